/** The library buys every act from a real altar on a real chain, signs once for a key, and reveals by an id alone. */
import { assert, layer } from "../lab/It.ts"
import { Effect } from "effect"
import { buyer, type Journal, memoryJournal, type Progress, verify } from "../../src/buyer/index.ts"
import {
  authorizationsUsed,
  buyerOf,
  diesSigned,
  type Network,
  rejection,
  newCustomer,
} from "../lab/buyer/LibraryBuyer.ts"
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

const failing = () => {
  const kept = memoryJournal()
  const disk = { isFull: false }
  const journal: Journal = {
    alone: (run) => (disk.isFull ? Promise.reject(new Error("database or disk is full")) : kept.alone(run)),
  }
  return { disk, journal }
}

layer(world(), realClock)("the buyer library", (it) => {
  it.effect("buys each act once, typed, and returns the same act for a repeated key", function* () {
    const at = yield* newCustomer(40_000_000n)
    const altar = buyerOf(at, undefined, { policy: { maxPerDay: 20_000_000n } })
    const purchases = [
      (key: string) => altar.witness({ words, kind: "prediction", agentName: "Wren", key }),
      (key: string) => altar.pray({ words, spirit: "moss-hare", agentName: "Wren", key }),
      (key: string) => altar.keep({ spirit: "rain-crow", reason: "It sat still.", key }),
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
  })

  it.effect("needs only the id to reveal and to unseal, also after a restart", function* () {
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
    assert.isTrue((yield* Effect.promise(() => verify(stone.record))).ok)
    yield* Effect.promise(() => Promise.all([later.forget(stone.key), later.forget(candle.key)]))
    assert.strictEqual((yield* rejection(later.reveal(stone.record.id))).code, "words_unknown")
    const stranger = yield* rejection(buyerOf({ ...at, journal: memoryJournal() }).reveal(stone.record.id))
    assert.deepStrictEqual([stranger._tag, stranger.code], ["Refused", "words_unknown"])
  })

  it.effect("remembers revealed words that the altar hides until their owner exports them", function* () {
    const altar = buyerOf(yield* newCustomer())
    const linking = "Read https://heron.example today."
    const { key, record } = yield* Effect.promise(() => altar.witness({ words: linking }))
    const { stone } = yield* Effect.promise(() => altar.reveal(record.id))
    assert.deepInclude(stone.reveal, { text: null, hidden: true })
    assert.strictEqual((yield* rejection(altar.forget(key))).code, "not_forgettable")
    const { commitment, words: exported } = yield* Effect.promise(() => altar.exportWords(key))
    assert.deepStrictEqual([commitment, exported], [record.commitment, linking])
    yield* Effect.promise(() => altar.forget(key))
  })

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

  it.effect("signs once and buys one stone in several concurrent runs under one key", function* () {
    const at = yield* newCustomer()
    const key = newKey()
    const answers = yield* Effect.all(
      Array.from({ length: 5 }, () => Effect.promise(() => buyerOf(at).witness({ words, key }))),
      { concurrency: "unbounded" },
    )
    assert.strictEqual(new Set(answers.map(({ record }) => record.id)).size, 1)
    assert.strictEqual(at.counted.signatures, 1)
    assert.strictEqual(yield* authorizationsUsed(at), 1)
  })

  it.effect("refuses a key of another purchase, words that cannot be sealed, and invalid bodies", function* () {
    const at = yield* newCustomer()
    const altar = buyerOf(at)
    const key = newKey()
    yield* Effect.promise(() => altar.witness({ words, key }))
    const refused = [
      [() => altar.witness({ words: "Other words.", key }), "key_in_use"],
      [() => altar.keep({ spirit: "rain-crow", key }), "key_in_use"],
      [() => altar.witness({ words, key: "short" }), "idempotency_key_invalid"],
      [() => altar.witness({ words: " \n" }), "not_sealed"],
      [() => altar.witness({ words, salt: "short" }), "not_sealed"],
      [() => Reflect.apply(altar.witness, altar, [{ commitment: "0".repeat(64), words }]), "not_sealed"],
      [
        () => Reflect.apply(altar.light, altar, [{ spirit: "moss-hare", days: 1, dedication: "Bees", salt: words }]),
        "not_sealed",
      ],
      [() => altar.witness({ words, agentName: "x".repeat(65) }), "bad_request"],
      [() => Reflect.apply(altar.buy, altar, ["takeIn", { spirit: "moss-hare", words }]), "not_sealed"],
      [() => Reflect.apply(altar.buy, altar, ["takeIn", { spirit: "moss-hare", raeson: words }]), "bad_request"],
      [() => altar.collect({ element: "nobody" }), "element_not_found"],
    ] as const
    for (const [order, code] of refused) {
      const error = yield* rejection(order())
      assert.deepStrictEqual([error._tag, error.code], ["Refused", code], error.message)
      assert.match(error.message, /This request charged nothing\.$/u)
    }
    assert.strictEqual(at.counted.signatures, 1)
  })

  it.effect("completes a purchase with another altar's URL at the altar where it began", function* () {
    const at = yield* newCustomer()
    const heard: Array<string> = []
    const other = yield* serve(async (path) => (heard.push(path), "drop"))
    const key = newKey()
    yield* diesSigned(at, (altar, call) => altar.witness({ words, key }, call))
    const ended = yield* Effect.promise(() => buyerOf({ ...at, url: other }).resume(key))
    assert.property(ended, "record")
    assert.deepStrictEqual(heard, [])
    assert.deepStrictEqual([at.counted.signatures, yield* authorizationsUsed(at)], [1, 1])
    assert.deepStrictEqual([at.handedIn.length, new Set(at.handedIn).size], [2, 1], "the same payment is sent again")
  })

  it.effect("lists an open purchase after a crash, and completes it without its key at hand", function* () {
    const at = yield* newCustomer()
    yield* diesSigned(at, (altar, call) => altar.witness({ words }, call))
    const altar = buyerOf(at)
    const [open, ...others] = yield* Effect.promise(() => altar.purchases())
    assert.deepInclude(open, {
      act: "setWitnessStone",
      altar: at.url,
      state: "open",
      amountAtomic: "10000",
      id: null,
    })
    assert.lengthOf(others, 0)
    assert.notInclude(JSON.stringify(open), words)
    const { key, permalink, record } = yield* Effect.promise(() => altar.resume(open?.key ?? ""))
    const settled = { ...open, state: "settled", id: record.id, permalink }
    assert.deepStrictEqual([key, yield* Effect.promise(() => altar.purchases())], [open?.key, [settled]])
    assert.deepStrictEqual([at.counted.signatures, yield* authorizationsUsed(at)], [1, 1])
  })

  it.effect("reads what it verifies, without an account", function* () {
    const at = yield* newCustomer()
    const { permalink, receipt, record } = yield* Effect.promise(() => buyerOf(at).witness({ words }))
    const reader = buyer({ url: at.url })
    const stone = yield* Effect.promise(() => reader.stone(record.id))
    assert.deepStrictEqual(stone, { ...record, agentName: null, reveal: null })
    const act = yield* Effect.promise(() => reader.act(record.id))
    assert.deepStrictEqual([act.act, act.record, act.receipt.payer], ["setWitnessStone", { ...record }, receipt.payer])
    const segment = yield* Effect.promise(() => reader.segment(record.sequence))
    assert.strictEqual(segment.entries[0]?.chainHash, record.chainHash)
    for (const [thing, kind] of [
      [stone, "stone"],
      [act, "stone"],
      [permalink, "stone"],
      [segment, "segment"],
    ] as const)
      assert.deepInclude(yield* Effect.promise(() => verify(thing)), { kind, ok: true })
    for (const [call, code] of [
      [() => reader.receipt(record.id), "receipt_unsigned"],
      [() => reader.proof(record.id), "not_found"],
      [() => reader.stone("no-id"), "bad_request"],
      [() => reader.act(crypto.randomUUID()), "act_not_found"],
    ] as const)
      assert.strictEqual((yield* rejection(call())).code, code)
  })

  it.effect("reports no paid purchase as refused when its journal fails, and updates the journal later", function* () {
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
  })
})
