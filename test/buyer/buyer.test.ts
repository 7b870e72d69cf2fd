/** The library buys every act from a real altar on a real chain, signs once for a key and nothing unexpected, and keeps its words to that altar. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { buyer, type Journal, memoryJournal, type Progress, verifyStone } from "../../src/buyer/index.ts"
import {
  authorizationsUsed,
  buyerOf,
  diesSigned,
  type Network,
  rejection,
  newCustomer,
} from "../lab/buyer/LibraryBuyer.ts"
import type { Offer } from "../lab/buyer/Payment.ts"
import { today } from "../lab/Clock.ts"
import { newKey, realClock, world } from "../lab/Fixture.ts"
import { serve } from "../lab/proxy/HttpServer.ts"

const words = "The heron will return by May."

const losing = (when: "before" | "after"): Network => {
  let lost = false
  return async (request, forward) => {
    const isFirst = request.headers.has("payment-signature") && !lost
    if (!isFirst) return forward(request)
    lost = true
    if (when === "after") await forward(request)
    throw new TypeError("the connection broke")
  }
}

const stranger = "0x000000000000000000000000000000000000dEaD"

const offering =
  (change: Partial<Record<keyof Offer, unknown>>): Network =>
  async (request, forward) => {
    const response = await forward(request)
    if (response.status !== 402) return response
    const { challenge, ...body } = await response.json()
    const lie = { ...challenge, accepts: [{ ...challenge.accepts[0], ...change }] }
    const headers = new Headers(response.headers)
    headers.delete("content-length")
    headers.set("payment-required", Buffer.from(JSON.stringify(lie)).toString("base64"))
    return new Response(JSON.stringify({ ...body, challenge: lie }), { status: 402, headers })
  }

const failing = () => {
  const kept = memoryJournal()
  const disk = { isFull: false }
  const journal: Journal = {
    alone: (run) => (disk.isFull ? Promise.reject(new Error("database or disk is full")) : kept.alone(run)),
  }
  return { disk, journal }
}

layer(world(), realClock)("the buyer library", (it) => {
  it.effect("buys each act once, typed, and returns the same act for a repeated key", () =>
    Effect.gen(function* () {
      const at = yield* newCustomer(40_000_000n)
      const altar = buyerOf(at, undefined, { policy: { maxPerDay: 20_000_000n } })
      const purchases = [
        (key: string) => altar.witness({ words, kind: "prediction", agentName: "Wren", key }),
        (key: string) => altar.pray({ words, spirit: "moss-hare", agentName: "Wren", key }),
        (key: string) => altar.takeIn({ spirit: "rain-crow", reason: "It sat still.", key }),
        (key: string) => altar.collect({ element: "beeswax", spirit: "kelp-seal", key }),
        (key: string) => altar.light({ spirit: "kelp-seal", days: 1, dedication: "For the bees", words, key }),
        (key: string) => altar.light({ spirit: "kelp-seal", days: 7, dedication: "For them", key }),
        (key: string) => altar.light({ spirit: "kelp-seal", days: 30, dedication: "For all", key }),
      ]
      for (const purchase of purchases) {
        const key = newKey()
        const first = yield* Effect.promise(async () => await purchase(key))
        const again = yield* Effect.promise(async () => await purchase(key))
        assert.deepStrictEqual([first.replayed, again.replayed], [false, true])
        assert.deepStrictEqual([first.key, again.record], [key, first.record])
        assert.strictEqual(first.receipt.payer?.toLowerCase(), at.account.address.toLowerCase())
      }
      assert.strictEqual(at.counted.signatures, purchases.length)
      assert.strictEqual(yield* authorizationsUsed(at), purchases.length)
    }),
  )

  it.effect("needs only the id to reveal and to unseal, also after a restart", () =>
    Effect.gen(function* () {
      const at = yield* newCustomer()
      const first = buyerOf(at)
      const stone = yield* Effect.promise(() => first.witness({ words }))
      const candle = yield* Effect.promise(() =>
        first.light({ spirit: "dew-spider", days: 1, dedication: "For the bees", words: "Thank you." }),
      )
      const later = buyerOf(at)
      assert.strictEqual((yield* rejection(later.forget(stone.key))).code, "not_forgettable")
      const revealed = yield* Effect.promise(() => later.reveal(stone.record.id))
      assert.strictEqual(revealed.stone.reveal?.text, words)
      const unsealed = yield* Effect.promise(() => later.unseal(candle.record.id))
      assert.strictEqual(unsealed.candle.unsealed?.words, "Thank you.")
      assert.deepStrictEqual(yield* Effect.promise(() => verifyStone(stone.record)), { ok: true })
      yield* Effect.promise(() => Promise.all([later.forget(stone.key), later.forget(candle.key)]))
      assert.strictEqual((yield* rejection(later.reveal(stone.record.id))).code, "words_unknown")
      const stranger = yield* rejection(buyerOf({ ...at, journal: memoryJournal() }).reveal(stone.record.id))
      assert.deepStrictEqual([stranger._tag, stranger.code], ["Refused", "words_unknown"])
    }),
  )

  it.effect("remembers revealed words that the altar hides until their owner exports them", () =>
    Effect.gen(function* () {
      const altar = buyerOf(yield* newCustomer())
      const linking = "Read https://heron.example today."
      const { key, record } = yield* Effect.promise(() => altar.witness({ words: linking }))
      const { stone } = yield* Effect.promise(() => altar.reveal(record.id))
      assert.deepInclude(stone.reveal, { text: null, hidden: true })
      assert.strictEqual((yield* rejection(altar.forget(key))).code, "not_forgettable")
      const { commitment, words: exported } = yield* Effect.promise(() => altar.exportWords(key))
      assert.deepStrictEqual([commitment, exported], [record.commitment, linking])
      yield* Effect.promise(() => altar.forget(key))
    }),
  )

  it.effect.each(["before", "after"] as const)(
    "signs and pays once when the answer is lost %s the altar has the payment",
    (when) =>
      Effect.gen(function* () {
        const at = yield* newCustomer()
        const { record } = yield* Effect.promise(() => buyerOf(at, losing(when)).witness({ words }))
        assert.match(record.id, /^[0-9a-f-]{36}$/u)
        assert.strictEqual(at.counted.signatures, 1)
        assert.strictEqual(new Set(at.handedIn).size, 1)
        assert.strictEqual(yield* authorizationsUsed(at), 1)
      }),
  )

  it.effect("signs once and buys one stone in several concurrent runs under one key", () =>
    Effect.gen(function* () {
      const at = yield* newCustomer()
      const key = newKey()
      const answers = yield* Effect.all(
        Array.from({ length: 5 }, () => Effect.promise(() => buyerOf(at).witness({ words, key }))),
        { concurrency: "unbounded" },
      )
      assert.strictEqual(new Set(answers.map(({ record }) => record.id)).size, 1)
      assert.strictEqual(at.counted.signatures, 1)
      assert.strictEqual(yield* authorizationsUsed(at), 1)
    }),
  )

  it.effect("refuses a key of another purchase, words that cannot be sealed, and invalid bodies", () =>
    Effect.gen(function* () {
      const at = yield* newCustomer()
      const altar = buyerOf(at)
      const key = newKey()
      yield* Effect.promise(() => altar.witness({ words, key }))
      const refused = [
        [() => altar.witness({ words: "Other words.", key }), "key_in_use"],
        [() => altar.takeIn({ spirit: "rain-crow", key }), "key_in_use"],
        [() => altar.witness({ words, key: "short" }), "idempotency_key_invalid"],
        [() => altar.witness({ words: " \n" }), "not_sealed"],
        [() => altar.witness({ words, salt: "short" }), "not_sealed"],
        [() => Reflect.apply(altar.witness, altar, [{ commitment: "0".repeat(64), words }]), "not_sealed"],
        [
          () => Reflect.apply(altar.light, altar, [{ spirit: "moss-hare", days: 1, dedication: "Bees", salt: words }]),
          "not_sealed",
        ],
        [() => altar.witness({ words, agentName: "x".repeat(65) }), "bad_request"],
        [
          () => altar.act("lightMonth", { params: { familiarId: "moss-hare" }, sealing: JSON.parse("{}") }),
          "not_sealed",
        ],
        [() => altar.collect({ element: "nobody" }), "element_not_found"],
      ] as const
      for (const [order, code] of refused) {
        const error = yield* rejection(order())
        assert.deepStrictEqual([error._tag, error.code], ["Refused", code], error.message)
        assert.match(error.message, /This request charged nothing\.$/u)
      }
      assert.strictEqual(at.counted.signatures, 1)
    }),
  )

  it.effect("reports a payment that failed, never signs for that key again, and counts it for the day's limit", () =>
    Effect.gen(function* () {
      yield* today
      const at = yield* newCustomer(0n)
      const altar = buyerOf(at, undefined, { policy: { maxPerDay: 10_000n } })
      const key = newKey()
      for (const _ of ["first", "again"]) {
        const poor = yield* rejection(altar.witness({ words, key }))
        assert.deepStrictEqual([poor._tag, poor.code], ["Refused", "payment_invalid"])
      }
      // Only the altar says that it failed, and a lying one still has the signature.
      assert.strictEqual((yield* rejection(altar.witness({ words }))).code, "above_day_limit")
      assert.match((yield* rejection(altar.forget(key))).message, /its failed payment could still be used/u)
      assert.deepStrictEqual([at.counted.signatures, new Set(at.handedIn).size], [1, 1])
    }),
  )

  it.effect("signs nothing beside a failed authorization that could still be used, until its time is over", () =>
    Effect.gen(function* () {
      const at = yield* newCustomer()
      const openUntil = new Date(Date.now() + 3_000).toISOString()
      let isFirst = true
      const early: Network = async (request, forward) => {
        if (!request.headers.has("payment-signature") || !isFirst) return forward(request)
        isFirst = false
        const body = { ok: false, code: "payment_failed", message: "It was not charged so far.", reason: "unsent" }
        return Response.json({ ...body, authorizationOpenUntil: openUntil }, { status: 402 })
      }
      const steps: Array<string> = []
      const onProgress = ({ step }: Progress) => void steps.push(step === "signed" ? `signed ${Date.now()}` : step)
      const altar = buyerOf(at, early, { onProgress })
      assert.strictEqual((yield* rejection(altar.witness({ words }))).code, "payment_failed")
      yield* Effect.promise(() => altar.witness({ words }))
      const [, waited, signed = ""] = steps
      assert.strictEqual(waited, "waiting")
      assert.isAtLeast(Number(signed.slice("signed ".length)), Date.parse(openUntil))
    }),
  )

  it.effect("counts a day over restarts, and a repeated key once", () =>
    Effect.gen(function* () {
      yield* today
      const at = yield* newCustomer()
      const policy = { maxPerDay: 20_000n }
      const key = newKey()
      for (const order of [{ words, key }, { words, key }, { words }]) {
        yield* Effect.promise(() => buyerOf(at, undefined, { policy }).witness(order))
      }
      const refused = yield* rejection(buyerOf(at, undefined, { policy }).witness({ words }))
      assert.strictEqual(refused.code, "above_day_limit")
      assert.match(refused.message, /With \$0\.02 already signed for today, \$0\.01 more/u)
      assert.strictEqual(yield* authorizationsUsed(at), 2)
    }),
  )

  it.effect("limits concurrent runs together", () =>
    Effect.gen(function* () {
      yield* today
      const at = yield* newCustomer()
      const ended = yield* Effect.promise(() =>
        Promise.allSettled(
          Array.from({ length: 6 }, () =>
            buyerOf(at, undefined, { policy: { maxPerDay: 30_000n } }).witness({ words }),
          ),
        ),
      )
      assert.strictEqual(ended.filter(({ status }) => status === "fulfilled").length, 3)
      assert.deepStrictEqual([at.counted.signatures, yield* authorizationsUsed(at)], [3, 3])
    }),
  )

  it.effect("pays only known recipients in a known token, unless the buyer names another", () =>
    Effect.gen(function* () {
      const at = yield* newCustomer()
      const tokenless = yield* rejection(buyerOf(at, undefined, { policy: { network: "eip155:1" } }).witness({ words }))
      assert.deepStrictEqual([tokenless._tag, tokenless.code, at.counted.signatures], ["Refused", "unknown_network", 0])
      yield* Effect.promise(() => buyerOf(at).witness({ words }))
      const moved = offering({ payTo: stranger })
      const refused = yield* rejection(buyerOf(at, moved).witness({ words }))
      assert.strictEqual(refused.code, "other_payee")
      assert.strictEqual(at.counted.signatures, 1)
      const named = yield* rejection(buyerOf(at, moved, { policy: { payTo: stranger } }).witness({ words }))
      assert.strictEqual(named.code, "payment_invalid", "signed as the buyer said, and refused by the real altar")
    }),
  )

  it.effect("signs nothing without an account, which free calls do without", () =>
    Effect.gen(function* () {
      const { journal, url } = yield* newCustomer(0n)
      const reader = buyer({ url, journal })
      assert.strictEqual((yield* rejection(reader.witness({ words }))).code, "no_account")
      assert.strictEqual((yield* rejection(reader.reconcile(newKey()))).code, "attempt_not_found")
    }),
  )

  it.effect("completes a purchase with another altar's URL at the altar where it began", () =>
    Effect.gen(function* () {
      const at = yield* newCustomer()
      const heard: Array<string> = []
      const other = yield* serve(async (path) => (heard.push(path), "drop"))
      const key = newKey()
      yield* diesSigned(at, (altar, call) => altar.witness({ words, key }, call))
      const ended = yield* Effect.promise(() => buyerOf({ ...at, url: other }).reconcile(key))
      assert.property(ended, "record")
      assert.deepStrictEqual(heard, [])
      assert.deepStrictEqual([at.counted.signatures, yield* authorizationsUsed(at)], [1, 1])
      assert.deepStrictEqual([at.handedIn.length, new Set(at.handedIn).size], [2, 1], "the same payment is sent again")
    }),
  )

  it.effect("reports no paid purchase as refused when its journal fails, and updates the journal later", () =>
    Effect.gen(function* () {
      const { disk, journal } = failing()
      const at = { ...(yield* newCustomer()), journal }
      const key = newKey()
      const told: Array<Progress> = []
      const filling: Network = async (request, forward) => {
        const response = await forward(request)
        disk.isFull = request.headers.has("payment-signature")
        return response
      }
      const altar = buyerOf(at, filling, { onProgress: (progress) => void told.push(progress) })
      const stone = yield* Effect.promise(() => altar.witness({ words, key }))
      assert.strictEqual(stone.receipt.priceUsd, "$0.01")
      const unkept = told.find(({ step }) => step === "unkept")
      const because = "The journal cannot be used: database or disk is full."
      assert.deepStrictEqual(unkept, { step: "unkept", key, because })
      disk.isFull = false
      const again = yield* Effect.promise(() => buyerOf(at).witness({ words, key }))
      assert.deepStrictEqual([again.replayed, again.record], [true, stone.record])
      const revealed = yield* Effect.promise(() => buyerOf(at).reveal(stone.record.id))
      assert.strictEqual(revealed.stone.reveal?.text, words)
      assert.deepStrictEqual([at.counted.signatures, yield* authorizationsUsed(at)], [1, 1])
    }),
  )
})
