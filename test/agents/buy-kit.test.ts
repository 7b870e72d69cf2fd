/** The kit of every act is true: sent as it stands it meets the very offer it named, and pays. */
import { assert, layer } from "../lab/It.ts"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { Kit } from "../../schema/agents/Kit.ts"
import { isSealing } from "../../schema/altar/Recipe.ts"
import { sales } from "../../schema/altar/Sales.ts"
import { plainName } from "../../schema/payments/Sale.ts"
import { acts } from "../lab/ActTable.ts"
import { buy } from "../lab/buyer/Purchase.ts"
import { call, connect } from "../lab/McpClient.ts"
import * as Clock from "../lab/Clock.ts"
import { ask, newCommitment, newKey, newPayer, post, realClock, TestServer, world } from "../lab/Fixture.ts"
import { challengeOf, encode } from "../lab/buyer/Payment.ts"

const nowhere = "3f0c2c1e-5b0a-4c1f-9d51-8a54f3a3f6a1"
const toolName = (name: string) => (isSealing(name) ? "commitment" : plainName(name))
const sealed = () => ({ commitment: newCommitment() })

/** Arguments that make a complete kit of each act: those of its request, by the names of the tools. */
const purchases = acts().map(({ name: action, price, request }) => {
  const { body, path } = request()
  const { pathname, searchParams } = new URL(path, "https://altar.example")
  const template = sales.find(({ identifier }) => identifier === action)?.path ?? ""
  const { groups } = new RegExp(template.replace(/:(\w+)/u, "(?<$1>[^/]+)"), "u").exec(pathname) ?? {}
  const values = Object.entries<unknown>({ ...groups, ...Object.fromEntries(searchParams), ...body })
  return { args: { action, ...Object.fromEntries(values.map(([name, value]) => [toolName(name), value])) }, price }
})

const kitOf = (connected: Parameters<typeof call>[0], args: Record<string, unknown>) =>
  Effect.map(call(connected, "buy_kit", args), ({ isError, structured, text }): typeof Kit.Type => {
    assert.isFalse(isError, text)
    return JSON.parse(JSON.stringify(structured))
  })

const open = Effect.gen(function* () {
  const { url } = yield* TestServer
  const connected = yield* connect(`${url}/mcp`)
  yield* Effect.promise(() => connected.client.listTools())
  return connected
})

layer(world(), realClock)("buy_kit", (it) => {
  for (const { args, price } of purchases) {
    it.effect(`makes a kit of ${args.action} with the live offer, whose typed data and payment settle`, function* () {
      const connected = yield* open
      yield* Clock.today
      const payer = yield* newPayer()
      const kit = yield* kitOf(connected, { ...args, payer: payer.address })
      assert.deepStrictEqual([kit.action, kit.complete, kit.price.amountAtomic], [args.action, true, price])
      const { body, url } = kit.request
      const type = body === null ? [] : ["Content-Type"]
      assert.sameMembers(Object.keys(kit.request.headers), [...type, "Idempotency-Key", "PAYMENT-SIGNATURE"])
      assert.match(kit.retry, /^After a lost answer repeat this request with the same key\. .* never sign again\.$/u)
      assert.includeMembers(Object.keys(kit.outcomes), ["200", "201", "202", "402", "409", "503"])
      const key = newKey()
      const init = (headers: Record<string, string>): RequestInit =>
        body === null ? { method: kit.request.method, headers } : post(body, headers)
      const unpaid = yield* ask(url, init({ "idempotency-key": key }))
      assert.strictEqual(unpaid.status, 402, unpaid.text)
      const { accepts, resource } = challengeOf(unpaid)
      assert.deepInclude<object>(Object(kit.payment), { accepted: accepts[0], resource })
      const { domain, message, primaryType, types } = JSON.parse(JSON.stringify(kit.sign?.typedData))
      const signature = yield* Effect.promise(() => payer.signTypedData({ domain, message, primaryType, types }))
      const payment = { ...kit.payment, payload: { ...Object(kit.payment?.["payload"]), signature } }
      const paid = yield* ask(url, init({ "idempotency-key": key, "payment-signature": encode(payment) }))
      assert.strictEqual(paid.status, 201, paid.text)
      const reconciled = yield* ask(kit.reconcile.replace("{Idempotency-Key}", key), { method: "POST" })
      assert.strictEqual(reconciled.status, 200)
    })
  }

  it.effect.each([
    {
      args: { action: "offerPrayer", spirit: "static-fox" },
      missing: ["agentName", "commitment"],
      body: { agentName: "<agentName>", intentionCommitment: "<commitment>" },
    },
    ...["lightDay", "lightWeek", "lightMonth"].map((action) => ({
      args: { action, spirit: "static-fox", agentName: "Wren" },
      missing: ["dedication"],
      body: { agentName: "Wren", dedication: "<dedication>" },
    })),
  ])("leaves only the buyer's own values of $args.action open", function* ({ args, body, missing }) {
    const kit = yield* kitOf(yield* open, args)
    assert.deepStrictEqual([kit.complete, kit.missing, kit.request.body], [false, missing, body])
    assert.doesNotHaveAnyKeys(kit, ["sign", "payment"])
  })

  it.effect("contains only the parts that its act needs", function* () {
    const connected = yield* open
    const complete = yield* call(connected, "buy_kit", { action: "takeIn", spirit: "static-fox", agentName: "Wren" })
    const kit = JSON.parse(complete.text)
    assert.isUndefined(kit.recipe, "a keeper seals nothing")
    assert.notInclude(complete.text, connected.client.getInstructions()?.match(/Same purchase[^.]*/u)?.[0] ?? "")
    const stone = yield* call(connected, "buy_kit", { action: "setWitnessStone" })
    assert.include(stone.text, "SHA-256( UTF-8(salt) + 0x00")
  })

  it.effect("reports what would be refused, and stores nothing", function* () {
    const sql = yield* SqlClient.SqlClient
    const connected = yield* open
    yield* buy("/api/acquire/dew-spider")
    const count = sql`SELECT (SELECT count(*) FROM payment_attempts) AS a, (SELECT count(*) FROM payment_claims) AS c,
        (SELECT count(*) FROM payment_pools) AS p`
    const before = yield* count
    const takeIn = { action: "takeIn", spirit: "moss-hare" }
    const light = { action: "lightDay", spirit: "moss-hare" }
    const dedicated = { ...light, dedication: "x" }
    const late = { action: "offerPrayer", spirit: "moss-hare", day: "2020-01-01", agentName: "W", ...sealed() }
    const zero = "0".repeat(64)
    const badChecksum = "0x70997970c51812dc3A010C7d01b50e0d17dc79C8"
    const refused: ReadonlyArray<readonly [Record<string, unknown>, code: string, says?: RegExp]> = [
      [{ ...takeIn, spirit: "dew-spider" }, "already_kept", /first keeper/u],
      [{ action: "takeIn" }, "bad_request", /spirit: Required/u],
      [{ ...takeIn, kind: "promise" }, "bad_request", /kind: No part/u],
      [{ ...takeIn, day: "2026-11-28" }, "bad_request", /day: No part/u],
      [{ ...takeIn, parentId: nowhere }, "bad_request", /parentId: No part/u],
      [{ action: "takeIn", familiarId: "moss-hare" }, "bad_request", /familiarId: Call it spirit/u],
      [{ ...light, parent_id: nowhere }, "bad_request", /parent_id: Call it parentId/u],
      [{ ...takeIn, AGENTNAME: "x" }, "bad_request", /AGENTNAME: Call it agentName/u],
      [{ ...takeIn, "Parent ID": "" }, "bad_request", /Parent ID: Call it parentId/u],
      [{ ...dedicated, intentionCommitment: zero }, "bad_request", /Call it commitment/u],
      [{ ...dedicated, parentId: nowhere }, "bad_request", /dedication/u],
      [{ ...light, dedication: "see altar.example.com" }, "dedication_held"],
      [late, "prayer_day_not_today"],
      [{ action: "steal" }, "bad_request", /action: /u],
      [{ ...takeIn, payer: badChecksum }, "bad_request", /checksum/u],
    ]
    for (const [args, code, says] of refused) {
      const { isError, text } = yield* call(connected, "buy_kit", args)
      assert.isTrue(isError, text)
      const refusal: { code: string; message: string } = JSON.parse(text)
      assert.strictEqual(refusal.code, code, text)
      if (says !== undefined) assert.match(refusal.message, says)
    }
    assert.deepStrictEqual(yield* count, before)
  })
})
