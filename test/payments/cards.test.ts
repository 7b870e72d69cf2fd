/** The card rail: off unless configured; a credential pays for the very request it was made for, once, as x402 does beside it. */
import { assert, layer } from "../lab/It.ts"
import { Effect } from "effect"
import { Challenge, Credential, Receipt } from "mppx"
import { SqlClient } from "effect/sql"
import * as CardProcessor from "../lab/proxy/CardProcessor.ts"
import * as Cards from "../lab/buyer/Cards.ts"
import { prepareAt, reconcile, send, written } from "../lab/buyer/Purchase.ts"
import { type Answer, ask, newKey, post, read, realClock, TestServer, world } from "../lab/Fixture.ts"
import { assertAnswer } from "../lab/Assertions.ts"
import { until } from "../lab/Eventually.ts"

const { carded, cardBooks, challengeSecret, dedication, prepareByCard, Processor } = Cards

const week = "/api/candles/week/moss-hare"

layer(world(), realClock)("a server without cards", (it) => {
  it.effect("does not mention cards, and refuses one without charging anything", function* () {
    const { url } = yield* TestServer
    const before = yield* written
    const offer = yield* ask(`${url}${week}`, post(dedication, { "idempotency-key": newKey() }))
    assert.strictEqual(offer.status, 402)
    assert.isNull(offer.headers.get("www-authenticate"))
    assert.deepStrictEqual((yield* ask(`${url}/api/candles`)).json["rails"], ["x402"])
    assert.notInclude((yield* ask(`${url}/llms.txt`)).text, "A card may pay")
    const elsewhere = Challenge.from({
      secretKey: challengeSecret,
      realm: new URL(url).host,
      method: "stripe",
      intent: "charge",
      request: { amount: "300", currency: "usd" },
    })
    for (const path of [week, "/api/witness"]) {
      const authorization = Credential.serialize({ challenge: elsewhere, payload: { spt: "spt_1" } })
      const body = path === week ? dedication : { commitment: "ab".repeat(32) }
      const answer = yield* ask(`${url}${path}`, post(body, { "idempotency-key": newKey(), authorization }))
      assertAnswer(answer, 402, "payment_invalid", "card_not_accepted")
      assert.match(
        String(answer.json["message"]),
        /^This route does not accept cards.*This request charged nothing\.$/u,
      )
      assert.isNull(answer.headers.get("www-authenticate"))
    }
    assert.deepStrictEqual(yield* written, before)
    const other = { "idempotency-key": newKey(), authorization: "Bearer something" }
    assert.strictEqual((yield* ask(`${url}${week}`, post(dedication, other))).json["code"], "payment_required")
  })
})

layer(carded("20 seconds"), realClock)("a server that takes cards", (it) => {
  it.effect("offers them on the week and month routes alone, for exactly the request and the price", function* () {
    const { url } = yield* TestServer
    assert.deepStrictEqual((yield* ask(`${url}/api/candles`)).json["rails"], ["x402", "card"])
    assert.include((yield* ask(`${url}/llms.txt`)).text, "A card may pay for `lightWeek` and `lightMonth` instead")
    for (const [rung, cents] of [
      ["week", "300"],
      ["month", "900"],
    ] as const) {
      const body = JSON.stringify(dedication)
      const key = newKey()
      const answer = yield* ask(`${url}/api/candles/${rung}/moss-hare`, post(body, { "idempotency-key": key }))
      const challenge = Challenge.fromResponse(new Response(null, { status: 402, headers: answer.headers }))
      assert.isTrue(Challenge.verify(challenge, { secretKey: challengeSecret }))
      assert.deepInclude(challenge, { realm: new URL(url).host, method: "stripe", intent: "charge" })
      assert.deepStrictEqual(challenge.request, {
        amount: cents,
        currency: "usd",
        methodDetails: { networkId: CardProcessor.profile, paymentMethodTypes: ["card", "link"] },
      })
      const digest = Buffer.from(yield* Effect.promise(() => crypto.subtle.digest("SHA-256", Buffer.from(body))))
      assert.strictEqual(challenge.digest, `sha-256=:${digest.toString("base64")}:`)
      const life = Date.parse(challenge.expires ?? "") - Date.now()
      // The server's clock decides, and this test's clock differs.
      assert.closeTo(life, 300_000, 30_000)
      assert.isNotNull(answer.headers.get("payment-required"))
      const head = [...answer.headers].reduce((sum, [name, value]) => sum + name.length + value.length + 4, 0)
      assert.isBelow(head, 4_096, "a proxy keeps 4 KiB for it")
    }
    assert.isNotNull((yield* ask(`${url}${week}`, { method: "POST" })).headers.get("www-authenticate"), "a bare probe")
    for (const path of ["/api/candles/day/moss-hare", "/api/witness", "/api/acquire/moss-hare"]) {
      const probe = yield* ask(`${url}${path}`, { method: "POST" })
      assert.deepStrictEqual([probe.status, probe.headers.get("www-authenticate")], [402, null])
    }
  })

  it.effect("sells the unchanged mppx client one candle for one charge, and replays the bytes", function* () {
    const { url } = yield* TestServer
    const sql = yield* SqlClient.SqlClient
    const bank = yield* Processor
    const { counted, fetch: pay } = Cards.agent(bank)
    const key = newKey()
    const request = post({ ...dedication, agentName: "Wren" }, { "idempotency-key": key })
    const response = yield* Effect.promise(() => pay(`${url}${week}`, request))
    const text = yield* Effect.promise(() => response.text())
    assert.strictEqual(response.status, 201, text)
    const { permalink, receipt, record } = JSON.parse(text)
    assert.deepStrictEqual([record.payer, record.transaction, record.days], [null, null, 7])
    assert.deepInclude(receipt, { transaction: null, payer: null, amountAtomic: "3000000", priceUsd: "$3.00" })
    const paid = Receipt.fromResponse(response)
    assert.deepInclude(paid, { method: "stripe", status: "success", timestamp: receipt.settledAt })
    const { method, reference } = paid
    assert.deepStrictEqual(receipt.card, { method, reference, currency: "usd", amountCents: "300" })
    assert.isNull(response.headers.get("payment-response"))
    const sold = { state: "settled", reason: null, acts: 1, candles: 1, claims: 1, taken: 1 }
    assert.deepInclude(yield* cardBooks({ key }), sold)
    const kept = yield* sql`SELECT id FROM payment_attempts a WHERE a::text LIKE '%spt\\_%'`
    assert.deepStrictEqual(kept, [], "the token is forgotten")

    const again = yield* Effect.promise(() => pay(`${url}${week}`, request))
    assert.strictEqual(again.status, 200)
    assert.strictEqual(yield* Effect.promise(() => again.text()), text.replace(/false\}$/u, "true}"))
    assert.strictEqual(again.headers.get("payment-receipt"), response.headers.get("payment-receipt"))
    assert.strictEqual(counted.tokens, 1)

    const { id } = record
    assert.deepStrictEqual((yield* read(`/api/acts/${id}`)).act.receipt, receipt)
    const { candles } = yield* read("/api/candles")
    assert.deepInclude(
      candles.find((candle: { readonly id: string }) => candle.id === id),
      { payer: null },
    )
    assert.deepInclude((yield* read("/api/field")).lastSettlement, { id, transaction: null })
    const page = yield* ask(permalink, { headers: { accept: "text/html" } })
    assert.strictEqual(page.status, 200)
    assert.include(page.text, `<span class="price">$3.00</span> by card`)
    assert.include(page.text, paid.reference)
  })

  it.effect("sells an anonymous light on a candle by card, and every page can show it", function* () {
    const { url } = yield* TestServer
    const candle = yield* send(yield* prepareByCard(url))
    const { record } = JSON.parse(candle.text)
    const light = yield* send(
      yield* prepareByCard(url, "pm_card_visa", "/api/candles/month/moss-hare", { parentId: record.id }),
    )
    assert.strictEqual(light.status, 201, light.text)
    assert.deepInclude(JSON.parse(light.text).record, { kind: "light", parentId: record.id, days: 30 })
    for (const path of ["/v2/", "/v2/candles", "/v2/spirits/moss-hare", `/acts/${record.id}`]) {
      const page = yield* ask(`${url}${path}`, { headers: { accept: "text/html" } })
      assert.isBelow(page.status, 400, path)
      // Attributes hold the catalog's data, where null is a value.
      assert.notInclude(page.text.replaceAll(/="[^"]*"/gu, ""), "null", path)
    }
  })

  it.effect("refuses a declined card, charges nothing, and sells to the next caller", function* () {
    const { url } = yield* TestServer
    const bank = yield* Processor
    const key = newKey()
    const { counted, fetch: pay } = Cards.agent(bank, "pm_card_visa_chargeDeclined")
    const response = yield* Effect.promise(() => pay(`${url}${week}`, post(dedication, { "idempotency-key": key })))
    const body = yield* Effect.promise(() => response.json())
    assert.deepStrictEqual(
      [response.status, body.code, body.reason],
      [402, "payment_failed", "generic_decline"],
      JSON.stringify(body),
    )
    assert.isNull(response.headers.get("www-authenticate"), "a key that failed is no offer")
    assert.isNotNull(response.headers.get("payment-required"))
    assert.strictEqual(counted.tokens, 1)
    assert.deepInclude(yield* cardBooks({ key }), { state: "failed", acts: 0, candles: 0, claims: 1, taken: 0 })
    const told = yield* reconcile({ server: url, key })
    assert.strictEqual(told.json["code"], "payment_failed")
    assert.deepStrictEqual([told.headers.get("payment-response"), told.json["settlement"]], [null, undefined])
    assert.strictEqual((yield* send(yield* prepareByCard(url))).status, 201)
  })

  it.effect("accepts a credential only for the request, price, server and time that it names", function* () {
    const { url } = yield* TestServer
    const bank = yield* Processor
    const key = newKey()
    const offer = yield* ask(`${url}${week}`, post(dedication, { "idempotency-key": key }))
    const good = Cards.credentialFor(offer, yield* Effect.promise(() => bank.grant("pm_card_visa", "900")))
    const challenge = Challenge.fromHeaders(offer.headers)
    const made = (change: object, payload: object = { spt: "spt_1" }) =>
      Credential.serialize({ challenge: { ...challenge, ...change }, payload })
    const forged = (change: { expires?: string }, secretKey: string) => {
      const { id: _, ...parts } = challenge
      return Credential.serialize({
        challenge: Challenge.from({ ...parts, ...change, secretKey }),
        payload: { spt: "spt_1" },
      })
    }
    // Written by hand: the library itself cannot write it.
    const nested = Buffer.from(`{"amount":${"[".repeat(5000)}${"]".repeat(5000)}}`).toString("base64url")
    const deep = Buffer.from(JSON.stringify({ challenge: { ...challenge, request: nested }, payload: { spt: "s" } }))
    const probe = yield* ask(`${url}${week}`, { method: "POST" })
    const to = (authorization: string, path = week, body = dedication, name = key) =>
      ask(`${url}${path}`, post(body, { "idempotency-key": name, authorization }))
    const expired = forged({ expires: "2026-01-01T00:00:00.000Z" }, challengeSecret)
    const cases: ReadonlyArray<readonly [what: string, reason: string, answer: Effect.Effect<Answer>]> = [
      ["another key", "challenge_mismatch", to(good, week, dedication, newKey())],
      ["another body", "challenge_mismatch", to(good, week, { dedication: "For Grandpa" })],
      ["another spirit", "challenge_mismatch", to(good, "/api/candles/week/rain-crow")],
      ["another rung", "challenge_mismatch", to(good, "/api/candles/month/moss-hare")],
      ["a probe's challenge", "challenge_mismatch", to(Cards.credentialFor(probe, "spt_1"))],
      ["a route without cards", "card_not_accepted", to(good, "/api/candles/day/moss-hare")],
      ["a changed price", "invalid_challenge", to(made({ request: { amount: "50" } }))],
      ["a longer life", "invalid_challenge", to(made({ expires: "2099-01-01T00:00:00Z" }))],
      ["no end", "invalid_challenge", to(made({ expires: undefined }))],
      ["another server's secret", "invalid_challenge", to(forged({}, "another secret"))],
      ["an old challenge", "payment_expired", to(expired)],
      ["no token", "malformed_credential", to(made({}, { card: "4242" }))],
      ["no credential", "malformed_credential", to("Payment !!!")],
      ["a credential nested without end", "invalid_challenge", to(`Payment ${deep.toString("base64url")}`)],
    ]
    const before = yield* written
    const { charges } = bank.requests()
    for (const [what, reason, request] of cases) {
      const answer = yield* request
      assertAnswer(answer, 402, "payment_invalid", reason, `${what}: ${answer.text}`)
      assert.match(String(answer.json["message"]), /This request charged nothing\.$/u)
    }
    assert.deepStrictEqual(yield* written, before)
    assert.strictEqual(bank.requests().charges, charges)
    const bought = yield* to(good)
    assert.strictEqual(bought.status, 201, bought.text)
  })

  it.effect("refuses two payments in one request", function* () {
    const { url } = yield* TestServer
    const purchase = yield* prepareByCard(url)
    const answer = yield* send({ ...purchase, headers: { ...purchase.headers, "payment-signature": "e30=" } })
    assertAnswer(answer, 400, "bad_request")
    assert.include(answer.text, "This request charged nothing")
    assert.isUndefined(yield* cardBooks(purchase))
  })

  it.effect("charges neither a card nor a wallet while sales are paused", function* () {
    const { url } = yield* TestServer
    const sql = yield* SqlClient.SqlClient
    const card = yield* prepareByCard(url)
    const { headers } = yield* prepareAt(url, { path: week, body: dedication, key: card.key })
    yield* sql`UPDATE payment_pause SET reason = 'stock-taking', since = now()`
    yield* ask(`${url}/api/witness`, { method: "POST" }).pipe(until("sold on", ({ status }) => status === 503))
    for (const paid of [card, { ...card, headers }]) assertAnswer(yield* send(paid), 503, "selling_paused")
  })
})
