/** The numbers of the documents: limits by address, and bounds of caches, whose oldest entry is made again in the same words. */
import { assert, describe, it } from "../lab/It.ts"
import { Duration, Effect, Layer, Schema } from "effect"
import { numberToHex } from "viem"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApiEndpoint } from "effect/http-api"
import { dailyCeiling, setWitnessStone } from "../../schema/altar/Witness.ts"
import { firstPaymentsMaximum, openPaymentsMaximum } from "../../schema/payments/Errors.ts"
import { priceUsd } from "../../schema/payments/Usdc.ts"
import { searchMaximum } from "../../src/altar/Acts.ts"
import { defaultMaxPerDay, objection } from "../../src/buyer/Policy.ts"
import { PaymentOffers } from "../../src/payments/Offers.ts"
import { PaymentTerms } from "../../src/payments/PaymentTerms.ts"
import { Chain } from "../../src/payments/x402/chain/Chain.ts"
import { answering } from "../lab/ScriptedChain.ts"
import type { SignedAuthorization } from "../../src/payments/x402/chain/Eip3009.ts"
import { relayerLimits } from "../../src/payments/x402/settle/Settlement.ts"
import { Signatures } from "../../src/payments/x402/verify/Signature.ts"
import { clockTolerance } from "../../src/platform/DatabaseClock.ts"
import * as LogLines from "../../src/telemetry/LogLines.ts"
import { UrlCache, urlMaximum } from "../../src/http/UrlCache.ts"
import { ClientAddress } from "../../src/limits/ClientAddress.ts"
import { RateLimiter } from "../../src/limits/RateLimiter.ts"
import { cardPayments, guards, openings, questions, refusedPayments, searches } from "../../src/altar/Limits.ts"
import type { Limit } from "../../src/limits/Limit.ts"
import { creations, deletions, newMessages, reads, sends } from "../../src/room/Limits.ts"
import { asking, stoneUrl } from "../lab/buyer/Offers.ts"
import { patience } from "../lab/Patience.ts"
import { assertEach } from "../lab/Assertions.ts"
import { textOf } from "../lab/Sources.ts"
import { lasting, terms } from "../lab/TransferLogs.ts"

const authorizationOf = (index: number): SignedAuthorization => ({
  ...lasting,
  from: numberToHex(index, { size: 20 }),
  validBefore: 300n,
  nonce: numberToHex(index, { size: 32 }),
  signature: "0x",
})

const kept = 10_000

/** Asks for one more than is kept. The oldest answer is made again, the others are not, and it is the same. */
const exceed = Effect.fnUntraced(function* <A, E>(ask: (index: number) => Effect.Effect<A, E>, made: () => number) {
  const first = yield* ask(0)
  for (let index = 1; index <= kept; index += 1) yield* ask(index)
  for (const index of [1, kept]) yield* ask(index)
  assert.strictEqual(made(), kept + 1)
  assert.deepStrictEqual(yield* ask(0), first)
  assert.strictEqual(made(), kept + 2)
})

describe("beyond the limit of remembered payments", { timeout: patience(30) }, () => {
  it.effect("an offer is computed again, in the same words", () =>
    Effect.gen(function* () {
      const { required } = yield* PaymentOffers.make
      const offer = (index: number) => {
        const url = `https://altar.example/api/witness?number=${index}`
        return Effect.flip(
          required({ act: { ...setWitnessStone.sale, endpoint: setWitnessStone }, url, parameters: {} }),
        )
      }
      const first = yield* offer(0)
      yield* Effect.forEach(
        Array.from({ length: 999 }, (_, index) => index + 1),
        offer,
        { discard: true },
      )
      const beyond = yield* offer(1_000)
      // The oldest gives way: URLs of strangers do not keep out those in use.
      assert.strictEqual(yield* offer(1_000), beyond)
      const again = yield* offer(0)
      assert.notStrictEqual(again, first)
      assert.deepStrictEqual(again, first)
    }).pipe(Effect.provide(PaymentTerms.ready(terms, ["x402"]))),
  )

  it.effect("the node is asked again whether a wallet has code", () => {
    let asked = 0
    const chain = Layer.mock(Chain, { ask: answering(Effect.sync(() => ((asked += 1), "0x"))) })
    return Effect.gen(function* () {
      const { plausible } = yield* Signatures
      yield* exceed(
        (index) => plausible(authorizationOf(index), terms),
        () => asked,
      )
    }).pipe(Effect.provide(Signatures.layer.pipe(Layer.provide(chain))))
  })
})

it("unread log lines beyond 4 MB are dropped and counted", () => {
  const unread: Array<string> = []
  let bytes = 0
  const { write } = LogLines.make(
    { format: "json", level: "Info" },
    {
      write: (text) => {
        unread.push(text)
        bytes += text.length
      },
      waiting: () => bytes,
    },
  )
  const said = 100
  for (let index = 0; index < said; index += 1)
    write(new Date(0), "Info", "request", { index, path: "ab ".repeat(33_000) })
  const written = unread.length
  assert.isBelow(written, said)
  assert.isAtLeast(bytes, 4 * 1_048_576)
  assert.isBelow(bytes, 4 * 1_048_576 + 200_000)
  bytes = 0
  write(new Date(0), "Info", "request", { index: said })
  const told = unread.slice(written).map((text) => JSON.parse(text))
  assert.lengthOf(told, 2)
  assert.deepInclude(told[0], { level: "warn", lines: said - written })
  assert.deepInclude(told[1], { message: "request", index: said })
})

const request = (path: string, init: RequestInit = {}) =>
  HttpServerRequest.fromWeb(new Request(`http://altar.example${path}`, init))

const endpoint = HttpApiEndpoint.get("read", "/read")
const guarded = HttpApiEndpoint.post("sell", "/sold", {
  headers: { "idempotency-key": Schema.optionalKey(Schema.Literal("good")) },
})
const answered = HttpServerResponse.text("by the handler")
const bounded = UrlCache.layer.pipe(Layer.provide(Layer.succeed(urlMaximum, 2)))

it.effect(
  "the cache of URLs evicts a URL after as many newer ones of its endpoint, keeps those of other endpoints, and omits long ones",
  () =>
    Effect.gen(function* () {
      const urls = yield* UrlCache
      const handler = urls.hot(() => answered)(() => () => Effect.succeed(answered))
      const sold = request("/sold", { method: "POST" })
      const long = `/${"a".repeat(600)}`
      yield* handler({ request: sold, endpoint: guarded })
      for (const path of ["/1", "/2", "/3", long]) yield* handler({ request: request(path), endpoint })
      const isKnown = (asked: HttpServerRequest.HttpServerRequest) => urls.answer(asked) !== undefined
      assert.deepStrictEqual([request("/1"), request("/2"), request("/3"), sold, request(long)].map(isKnown), [
        false,
        true,
        true,
        true,
        false,
      ])
      const bad = request("/sold", { method: "POST", headers: { "idempotency-key": "bad" } })
      assert.isFalse(isKnown(bad), "the router refuses headers that break the contract")
    }).pipe(Effect.provide(bounded)),
)

/** Each refused payment takes the last place of its address. */
const neighbours = Layer.merge(
  Layer.mock(ClientAddress, { of: ({ headers }) => headers["x-forwarded-for"] ?? "" }),
  Layer.mock(RateLimiter, {
    take: (limit) => Effect.succeed(limit.map((window) => ({ window, remaining: 0, resetSeconds: 60 }))),
  }),
)

it.effect("the addresses with too many refused payments are remembered up to 10,000, and the oldest starts again", () =>
  Effect.gen(function* () {
    const guardOf = yield* guards
    const guard = (index: number) => guardOf(request("/", { headers: { "x-forwarded-for": `address ${index}` } }))
    const isLetIn = (index: number) =>
      Effect.map(
        Effect.result(guard(index).admit(Effect.succeed(true), Effect.succeed(false))),
        ({ _tag }) => _tag === "Success",
      )
    for (let index = 0; index < kept; index += 1) yield* guard(index).refused
    assert.deepStrictEqual([yield* isLetIn(0), yield* isLetIn(kept - 1), yield* isLetIn(kept)], [false, false, true])
    yield* guard(kept).refused
    assert.deepStrictEqual([yield* isLetIn(0), yield* isLetIn(1), yield* isLetIn(kept)], [true, false, false])
  }).pipe(Effect.provide(neighbours), Effect.scoped),
)

const [minute, hour, day] = [60, 3_600, 86_400]

const rows: ReadonlyArray<readonly [what: string, limit: Limit, quotas: Array<[number, number]>]> = [
  [
    "new rooms of an address, a /56 and a /48",
    creations,
    [
      [5, hour],
      [10, day],
      [20, hour],
      [100, hour],
      [40, day],
      [200, day],
    ],
  ],
  ["sends of an address, a /56 and a /48", sends, [20, 80, 400].map((quota) => [quota, minute])],
  ["polls", reads, [[120, minute]]],
  ["deletions", deletions, [[10, minute]]],
  ["new messages of a room", [newMessages], [[30, minute]]],
  ["searches", searches, [[60, minute]]],
  ["reveals and unseals", openings, [[60, minute]]],
  ["reconciles", questions, [[240, minute]]],
  ["refused payments", refusedPayments, [[60, minute]]],
  ["card payments of an address, a /56 and a /48", cardPayments, [60, 240, 1200].map((quota) => [quota, minute])],
]

describe("a limit by address", () => {
  it.each(rows)("of %s has the number and the window of its row", (_, limit, quotas) => {
    assertEach(limit, ({ quota, seconds }) => [quota, seconds], quotas)
    for (const { quota, says } of limit) assert.include(says, `${quota} `)
  })
})

const inWords = (count: number) => count.toLocaleString("en")

it.each([
  ["docs/evidence.md", `${firstPaymentsMaximum}, and ${firstPaymentsMaximum} more for each payment that settled here`],
  ["docs/evidence.md", `at most ${openPaymentsMaximum}; 1 for an hour`],
  ["docs/evidence.md", `newest ${inWords(searchMaximum.defaultValue())}.`],
  ["docs/evidence.md", `stones of a UTC day: ${inWords(dailyCeiling)}.`],
  ["docs/payment-protocol.md", `never paid here is at most ${inWords(relayerLimits.gasAtRisk)}, and as much again`],
  ["docs/operating.md", `\`RELAYER_IN_FLIGHT\` (${relayerLimits.inFlight})`],
  ["docs/operating.md", `the clock is over ${Duration.toSeconds(clockTolerance)} s from`],
  ["docs/integrating.md", `\`--max-per-day\` (${priceUsd(defaultMaxPerDay).slice(1)})`],
])("%s states the number of the code: %s", (file, phrase) => {
  assert.include(textOf(file).replaceAll(/\s+/gu, " "), phrase)
})

it("a buyer who names no limit signs for ten dollars of a day, and no more", () => {
  const price = { name: "setWitnessStone", priceAtomic: 10_000n }
  const codeAfter = (spentToday: bigint) =>
    objection({ challenge: asking(), key: "key", url: stoneUrl, price, policy: {}, earlier: undefined, spentToday })
      ?.code
  assert.deepStrictEqual([codeAfter(9_990_000n), codeAfter(9_990_001n)], [undefined, "above_day_limit"])
})
