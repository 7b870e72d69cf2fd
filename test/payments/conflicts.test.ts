/** The decisions about key and body before money moves, and the extensions of a challenge. */
import { assert, layer } from "../lab/It.ts"
import { ExactEvmScheme } from "@x402/evm"
import { validateDiscoveryExtension, validateDiscoveryExtensionSpec } from "@x402/extensions/bazaar"
import {
  appendPaymentIdentifierToExtensions,
  generatePaymentId,
  PAYMENT_IDENTIFIER,
  validatePaymentIdentifier,
} from "@x402/extensions/payment-identifier"
import { wrapFetchWithPayment, x402Client } from "@x402/fetch"
import { Effect } from "effect"
import type { PrivateKeyAccount } from "viem/accounts"
import {
  type Answer,
  ask,
  newCommitment,
  newKey,
  newPayer,
  post,
  realClock,
  TestServer,
  world,
} from "../lab/Fixture.ts"
import { buy, written } from "../lab/buyer/Purchase.ts"
import { acts, longestItem, longestSpirit } from "../lab/ActTable.ts"
import { today } from "../lab/Clock.ts"
import { challengeOf, encode, sign } from "../lab/buyer/Payment.ts"
import { assertAnswer } from "../lab/Assertions.ts"

const extensionsOf = (answer: Answer) =>
  JSON.parse(Buffer.from(answer.headers.get("payment-required") ?? "", "base64").toString()).extensions

/** The reference client with the extension as its manual says: it names each payment once. */
const client = (account: PrivateKeyAccount, id: string) => {
  const paying = new x402Client().register("eip155:*", new ExactEvmScheme(account))
  paying.registerExtension({
    key: PAYMENT_IDENTIFIER,
    enrichPaymentPayload: async (payload, required) => ({
      ...payload,
      extensions: appendPaymentIdentifierToExtensions(structuredClone(required.extensions ?? {}), id),
    }),
  })
  return wrapFetchWithPayment(fetch, paying)
}

/** A signed payment that names itself. */
const named = Effect.fnUntraced(function* (id: unknown, path = "/api/witness") {
  const { url } = yield* TestServer
  const challenge = challengeOf(yield* ask(`${url}${path}`, { method: "POST" }))
  const payment = yield* sign(yield* newPayer(), challenge.accepts[0], challenge.resource)
  return encode({ ...payment, extensions: { [PAYMENT_IDENTIFIER]: { info: { required: true, id }, schema: {} } } })
})

layer(world(), realClock)("before any money moves", (it) => {
  it.effect("a key is bound to one URL and one body", function* () {
    const { url } = yield* TestServer
    const payer = yield* newPayer()
    const body = { commitment: newCommitment(), kind: "promise" }
    const { headers, key } = yield* buy("/api/witness", body, { payer })
    const other = yield* ask(`${url}/api/witness`, post({ ...body, kind: "hash" }, headers))
    assertAnswer(other, 409, "idempotency_conflict")
    const respelled = yield* ask(
      `${url}/api/witness`,
      post(`{ "kind":"promise", "commitment":"${body.commitment}" }`, headers),
    )
    assert.strictEqual(respelled.status, 200, "the same JSON in another spelling is the same request")
    const collect = `${url}/api/elements/beeswax/collect`
    const collected = yield* buy("/api/elements/beeswax/collect?spirit=moss-hare", {}, { payer })
    for (const query of ["", "?spirit=static-fox"])
      assertAnswer(yield* ask(collect + query, post({}, collected.headers)), 409, "idempotency_conflict")
    const unsigned = yield* ask(`${url}/api/witness`, post(body, { "idempotency-key": key }))
    assert.strictEqual(unsigned.status, 200, "a settled key replays without a payment header")
  })

  it.effect("a known key is answered before its act can refuse anything", function* () {
    const { url } = yield* TestServer
    const path = `${url}/api/candles/day/rain-crow`
    const { headers } = yield* buy("/api/candles/day/rain-crow", { dedication: "For the bees" })
    const held = { dedication: "see my-site.example.com" }
    const known = yield* ask(path, post(held, headers))
    assertAnswer(known, 409, "idempotency_conflict")
    const fresh = yield* ask(path, post(held, { "idempotency-key": newKey() }))
    assertAnswer(fresh, 422, "dedication_held")
  })

  it.effect("an unpaid request without a key is priced like a keyed one, and reserves nothing", function* () {
    const { url } = yield* TestServer
    const kept = "acquire/brass-cicada"
    yield* buy(`/api/${kept}`, { agentName: "Wren" })
    const cases: ReadonlyArray<readonly [path: string, body: unknown, status: number, code: string]> = [
      ["witness", { commitment: newCommitment() }, 402, "payment_required"],
      ["witness", { commitment: "0".repeat(64) }, 422, "commitment_refused"],
      ["witness", { colour: "red" }, 400, "bad_request"],
      ["candles/day/rain-crow", { dedication: "see my-site.example.com" }, 422, "dedication_held"],
      [kept, { agentName: "Robin" }, 409, "already_kept"],
    ]
    const before = yield* written
    for (const [path, body, status, code] of cases) {
      const keyed = yield* ask(`${url}/api/${path}`, post(body, { "idempotency-key": newKey() }))
      const unkeyed = yield* ask(`${url}/api/${path}`, post(body))
      assertAnswer(unkeyed, status, code, undefined, `${path}: ${unkeyed.text}`)
      assert.strictEqual(unkeyed.text, keyed.text)
      assert.strictEqual(unkeyed.headers.get("payment-required"), keyed.headers.get("payment-required"))
    }
    assert.strictEqual((yield* ask(`${url}/api/witness`, { method: "POST" })).status, 402, "a bare probe")
    assert.deepStrictEqual(yield* written, before)
  })

  it.effect("a key must have the documented form", function* () {
    const { url } = yield* TestServer
    const quoted = ['"stone-2026-11-21-a1b2c3"', "'stone-2026-11-21-a1b2c3'", '"stone-2026-11-21-a1b2c3']
    for (const key of ["x".repeat(11), "has space in it", "x".repeat(129), "späte-schlüssel", ...quoted]) {
      const answer = yield* ask(
        `${url}/api/witness`,
        post({ commitment: newCommitment() }, { "idempotency-key": Buffer.from(key).toString("latin1") }),
      )
      assertAnswer(answer, 400, "idempotency_key_invalid", undefined, key)
      if (quoted.includes(key)) assert.match(String(answer.json["message"]), /quotation marks/u)
    }
    for (const key of ["Az0_-".repeat(3).slice(3), "x".repeat(128)]) {
      const fitting = post({ commitment: newCommitment() }, { "idempotency-key": key })
      assertAnswer(yield* ask(`${url}/api/witness`, fitting), 402, "payment_required", undefined, key)
    }
  })

  it.effect("a payment-identifier lets an unchanged client pay without a key, and is the key afterwards", function* () {
    const { url } = yield* TestServer
    const id = generatePaymentId()
    const paying = client(yield* newPayer(), id)
    const target = `${url}/api/acquire/glass-tortoise`
    const first = yield* Effect.promise(() => paying(target, { method: "POST" }))
    assert.strictEqual(first.status, 201)
    const record = yield* Effect.promise(() => first.text())
    const before = yield* written
    const again = yield* Effect.promise(() => paying(target, { method: "POST" }))
    assert.strictEqual(again.status, 200, "another signature under the same id is answered, not charged")
    assert.strictEqual(yield* Effect.promise(() => again.text()), record.replace(/false\}$/u, "true}"))
    const byKey = yield* ask(target, { method: "POST", headers: { "idempotency-key": id } })
    assert.strictEqual(byKey.status, 200)
    assert.strictEqual((yield* ask(`${url}/api/reconcile/${id}`, { method: "POST" })).status, 200)
    const other = yield* Effect.promise(() => paying(`${url}/api/acquire/rain-crow`, { method: "POST" }))
    assert.strictEqual(other.status, 409)
    assert.strictEqual((yield* Effect.promise(() => other.json())).code, "idempotency_conflict")
    assert.deepStrictEqual(yield* written, before)
  })

  it.effect("a payment-identifier must equal the Idempotency-Key where both are sent", function* () {
    const { url } = yield* TestServer
    const id = generatePaymentId()
    const signature = yield* named(id)
    const body = { commitment: newCommitment() }
    const before = yield* written
    const send = (key: string) =>
      ask(`${url}/api/witness`, post(body, { "idempotency-key": key, "payment-signature": signature }))
    const differing = yield* send(newKey())
    assertAnswer(differing, 400, "idempotency_key_invalid")
    assert.match(String(differing.json["message"]), /differ.*This request charged nothing/u)
    assert.deepStrictEqual(yield* written, before)
    assert.strictEqual((yield* send(id)).status, 201)
    // The payment has settled under its own id by now.
    const late = yield* send(newKey())
    assert.deepStrictEqual([late.status, late.text], [differing.status, differing.text])
    assert.notMatch(late.text, /nothing was charged/iu)
  })

  it.effect("a payment-identifier must have the form of a key, and a payment without one needs a key", function* () {
    const { url } = yield* TestServer
    const body = { commitment: newCommitment() }
    const before = yield* written
    for (const id of ["short", "x".repeat(129), "has space in it!!", 1234567890123456, null]) {
      const signature = yield* named(id)
      const answer = yield* ask(`${url}/api/witness`, post(body, { "payment-signature": signature }))
      assertAnswer(answer, 400, "idempotency_key_invalid", undefined, String(id))
    }
    const challenge = challengeOf(yield* ask(`${url}/api/witness`, { method: "POST" }))
    const plain = encode(yield* sign(yield* newPayer(), challenge.accepts[0], challenge.resource))
    for (const signature of [plain, "%%%", "aGVsbG8="]) {
      const answer = yield* ask(`${url}/api/witness`, post(body, { "payment-signature": signature }))
      assertAnswer(answer, 400, "idempotency_key_required")
      assert.match(String(answer.json["message"]), /payment-identifier.*This request charged nothing\.$/u)
    }
    assert.deepStrictEqual(yield* written, before)
  })
})

/** Each act where its URL is longest. */
const longestRequests = () =>
  acts().map(({ name, request }) => ({
    name,
    path: request().path.replace("moss-hare", longestSpirit).replace("beeswax", longestItem),
  }))

/** The payment of a client with an id of maximum length, for a server whose name has 64 characters. */
const longestSignature = Effect.fnUntraced(function* (payer: PrivateKeyAccount, probe: Answer, path: string) {
  const offer = challengeOf(probe)
  const url = `https://${"a".repeat(56)}.example${path}`
  const payment = yield* sign(payer, offer.accepts[0], { ...offer.resource, url })
  const offered = extensionsOf(probe)
  const identified = { ...offered[PAYMENT_IDENTIFIER], info: { required: true, id: "x".repeat(128) } }
  return encode({ ...payment, extensions: { ...offered, [PAYMENT_IDENTIFIER]: identified } })
})

/** A server whose facilitator lists routes, and that settles by itself all the same. */
const catalogued = world({ terms: { isCatalogued: true } })

layer(catalogued, realClock)("the extensions of a challenge", (it) => {
  it.effect("declare each act as their own libraries read it, and the server accepts that", function* () {
    const { url } = yield* TestServer
    const payer = yield* newPayer(20_000_000n)
    yield* today
    for (const act of acts()) {
      const { path } = act.request()
      const probe = yield* ask(`${url}${path}`, { method: "POST" })
      const { bazaar, [PAYMENT_IDENTIFIER]: identifier } = extensionsOf(probe)
      assert.deepStrictEqual(validatePaymentIdentifier(identifier), { valid: true }, act.name)
      assert.strictEqual(identifier.info.required, true, act.name)
      assert.deepStrictEqual(validateDiscoveryExtension(bazaar), { valid: true }, act.name)
      assert.deepStrictEqual(validateDiscoveryExtensionSpec(bazaar), { valid: true }, act.name)
      const { body, bodyType, method, pathParams, queryParams } = bazaar.info.input
      const query = queryParams === undefined ? "" : `?${new URLSearchParams(queryParams)}`
      const told = (bazaar.routeTemplate ?? "/api/witness").replace(
        /:([A-Za-z]+)/u,
        (_: string, name: string) => pathParams[name],
      )
      assert.strictEqual(`${told}${query}`, path)
      const key = newKey()
      const offer = challengeOf(yield* ask(`${url}${path}`, { ...post(body, { "idempotency-key": key }), method }))
      const payment = yield* sign(payer, offer.accepts[0], offer.resource)
      const signature = encode({ ...payment, extensions: extensionsOf(probe) })
      const bought = yield* ask(`${url}${path}`, post(body, { "idempotency-key": key, "payment-signature": signature }))
      assert.deepStrictEqual([bodyType, bought.status], ["json", 201], `${act.name}: ${bought.text}`)
      const wrong = structuredClone(bazaar)
      wrong.info.input.body.price = "0"
      assert.isFalse(validateDiscoveryExtension(wrong).valid, "what the server refuses, the declaration refuses")
    }
  })

  it.effect("keeps the head of a 402 and the payment in return below the 4 KiB buffer of proxies", function* () {
    const { url } = yield* TestServer
    const payer = yield* newPayer()
    for (const { name, path } of longestRequests()) {
      const probe = yield* ask(`${url}${path}`, { method: "POST" })
      assert.property(extensionsOf(probe), "bazaar", name)
      const head = [...probe.headers].reduce((sum, [header, value]) => sum + header.length + value.length + 4, 0)
      assert.isBelow(head, 3_600, name)
      assert.isAtMost((yield* longestSignature(payer, probe, path)).length, 4_096, name)
    }
  })
})
