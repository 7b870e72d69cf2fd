/** An altar that is paid and answers with something else: the library believes no field that it can compare. */
import { Effect } from "effect"
import { forgedFields, forgeFields, layer as lyingAltar, LyingAltar } from "../lab/proxy/LyingAltar.ts"
import { authorizationsUsed, buyerOf, rejection, stage, type Stage } from "../lab/buyer/LibraryBuyer.ts"
import { newKey } from "../lab/Fixture.ts"
import { assert, suite } from "../lab/Suites.ts"

const words = "The heron will return by May."

const kept = ({ journal }: Stage, key: string) =>
  Effect.promise(() => journal.alone((pages) => pages.get(`purchase/${key}`).then((page) => JSON.parse(page ?? "{}"))))

const fieldsOf = (error: object): ReadonlyArray<string> =>
  "differences" in error && Array.isArray(error.differences) ? error.differences.map(({ field }) => field) : []

suite("an altar that recorded another act", lyingAltar, (it) => {
  it("is rejected in every answer, replay and reconcile, and its evidence is stored", function* () {
    const at = yield* stage()
    const { tells } = yield* LyingAltar
    const key = newKey()
    const order = () => buyerOf(at).witness({ words, spirit: "moss-hare", key })
    tells(forgeFields)
    for (const ask of [order, order, () => buyerOf(at).reconcile(key)]) {
      const error = yield* rejection(ask())
      assert.strictEqual(error._tag, "Misrecorded", error.message)
      assert.match(error.message, /^The altar recorded something else than you bought\. /u)
      assert.includeMembers([...fieldsOf(error)], [...forgedFields])
    }
    const { misrecorded, payment, sealed, settled } = yield* kept(at, key)
    assert.isUndefined(settled)
    assert.deepStrictEqual([payment.header, sealed.words], [at.handedIn[0], words])
    assert.strictEqual(misrecorded.answer.ok, true)
    assert.isString(misrecorded.response.transaction)
    tells(undefined)
    const { replayed } = yield* Effect.promise(order)
    assert.isTrue(replayed)
    assert.property(yield* kept(at, key), "misrecorded")
    assert.deepStrictEqual([at.counted.signatures, new Set(at.handedIn).size], [1, 1])
    assert.strictEqual(yield* authorizationsUsed(at), 1)
  })

  it("is found out by a key without a signature, because request and price are compared", function* () {
    const at = yield* stage()
    const { tells } = yield* LyingAltar
    const key = newKey()
    const order = { words, salt: "salt-of-sixteen-or-more", key }
    yield* Effect.promise(() => buyerOf(at).witness(order))
    const later = { ...at, journal: (yield* stage(0n)).journal }
    for (const field of ["commitment", "amountAtomic"] as const) {
      tells(({ receipt, record }) => {
        if (field === "commitment") record[field] = "ab".repeat(32)
        else receipt[field] = "9000000"
      })
      assert.include(fieldsOf(yield* rejection(buyerOf(later).witness(order))), field)
    }
    tells(undefined)
    assert.isTrue((yield* Effect.promise(() => buyerOf(later).witness(order))).replayed)
    assert.strictEqual(at.counted.signatures, 1)
  })
})
