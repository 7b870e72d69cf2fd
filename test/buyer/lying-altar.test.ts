/** An altar that is paid and answers with something else: the library believes no field that it can compare. */
import { Effect } from "effect"
import { memoryJournal } from "../../src/buyer/index.ts"
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
    const bought = { words, salt: "salt-of-sixteen-or-more", spirit: "moss-hare", key } as const
    const order = () => buyerOf(at).witness(bought)
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

    // Without the journal there is no signature to compare with, but request and price.
    const later = { ...at, journal: memoryJournal() }
    for (const [part, field] of [
      ["record", "commitment"],
      ["receipt", "amountAtomic"],
    ] as const) {
      tells((answer) => Object.assign(answer[part], { [field]: "9".repeat(64) }))
      assert.include(fieldsOf(yield* rejection(buyerOf(later).witness(bought))), field)
    }
    tells(undefined)
    for (const one of [at, later]) assert.isTrue((yield* Effect.promise(() => buyerOf(one).witness(bought))).replayed)
    assert.property(yield* kept(at, key), "misrecorded")
    assert.deepStrictEqual([at.counted.signatures, new Set(at.handedIn).size], [1, 1])
    assert.strictEqual(yield* authorizationsUsed(at), 1)
  })
})
