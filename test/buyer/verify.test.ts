/** Seals and chains are checked by hashing alone, and whatever does not hold is named by its stone. */
import { createHash } from "node:crypto"
import { Effect } from "effect"
import { normalize, seal, type Segment, verifySegment, verifyStone } from "../../src/buyer/index.ts"
import { vectors } from "../../src/agents/Words.ts"
import { buyerOf, rejection, stage } from "../lab/buyer/LibraryBuyer.ts"
import { ask, layer as world } from "../lab/Fixture.ts"
import { assert, describe, effect, it, suite } from "../lab/Suites.ts"

const words = "The heron will return by May."

describe("the recipe of a seal", () => {
  it("reproduces every published vector", async () => {
    assert.isNotEmpty(vectors)
    for (const vector of vectors) {
      assert.deepStrictEqual(await seal(vector.words, vector.salt), { ...vector })
    }
    const { commitment, salt } = await seal(` ${words}\r\n`)
    const text = `${salt}\0${normalize(words)}`
    assert.strictEqual(commitment, createHash("sha256").update(text).digest("hex"))
    assert.match(salt, /^[0-9a-f]{32}$/u)
    assert.notStrictEqual((await seal(words)).salt, salt)
  })

  effect("refuses words that could never be revealed", function* () {
    const wrong = [
      seal(""),
      seal("x".repeat(281)),
      seal(words, "too short"),
      seal(words, "s".repeat(257)),
      seal("with a \0 inside"),
    ]
    for (const promise of wrong) assert.match((yield* rejection(promise)).message, /This request charged nothing\.$/u)
    assert.lengthOf((yield* Effect.promise(() => seal("x".repeat(280)))).commitment, 64)
  })
})

suite("a real chain", world(), (it) => {
  it("verifies piece by piece, and every alteration is found at its stone", function* () {
    const at = yield* stage()
    const altar = buyerOf(at)
    const sealed = yield* Effect.promise(() => seal(words))
    const stone = yield* Effect.promise(() => altar.witness({ words, salt: sealed.salt }))
    for (let index = 0; index < 4; index++) yield* Effect.promise(() => altar.witness({ words }))
    const segmentOf = (query: string) =>
      Effect.map(ask(`${at.url}/api/witness/chain?${query}`), ({ text }): Segment => JSON.parse(text))
    const whole = yield* segmentOf("from=1&limit=100")
    const verify = (segment: Segment, anchor?: Segment["anchor"]) =>
      Effect.promise(() => verifySegment(segment, anchor))

    const first = yield* segmentOf("from=1&limit=2")
    const held = yield* verify(first)
    assert.deepStrictEqual(held, {
      ok: true,
      links: 2,
      head: { sequence: 2, chainHash: whole.entries[1]?.chainHash ?? "" },
    })
    const rest = yield* segmentOf("from=3&limit=100")
    assert.deepStrictEqual(yield* verify(rest, held.ok ? held.head : undefined), {
      ok: true,
      links: 3,
      head: whole.head,
    })
    assert.deepStrictEqual(yield* verify(rest), { ok: true, links: 3, head: whole.head })
    assert.deepStrictEqual(yield* verify(whole), { ok: true, links: 5, head: whole.head })

    const forged = "f".repeat(64)
    const with3 = (change: object): Segment => ({
      ...whole,
      entries: whole.entries.map((entry) => (entry.sequence === 3 ? { ...entry, ...change } : entry)),
    })
    const broken: ReadonlyArray<readonly [Segment, number, RegExp, Segment["anchor"]?]> = [
      [with3({ commitment: forged }), 3, /its parts hash to/u],
      [with3({ witnessedAt: "2020-01-01T00:00:00.000Z" }), 3, /its parts hash to/u],
      [with3({ chainHash: forged }), 3, /but it says f{64}/u],
      [with3({ previousHash: forged }), 3, /it follows f{64}/u],
      [{ ...whole, entries: whole.entries.filter(({ sequence }) => sequence !== 3) }, 4, /where stone 3 should/u],
      [{ ...whole, entries: whole.entries.slice(0, 4) }, 5, /the head is stone 5/u],
      [{ ...whole, anchor: { sequence: 0, chainHash: forged }, entries: [] }, 1, /the head is stone 5/u],
      [rest, 3, /it follows/u, { sequence: 2, chainHash: forged }],
      [whole, 1, /where stone 8 should/u, { sequence: 7, chainHash: forged }],
    ]
    for (const [segment, sequence, reason, anchor] of broken) {
      const verdict = yield* verify(segment, anchor)
      assert.isFalse(verdict.ok)
      if (verdict.ok) continue
      assert.strictEqual(verdict.sequence, sequence, verdict.reason)
      assert.match(verdict.reason, reason)
    }

    const verdict = (given: { readonly salt: string; readonly words: string }) =>
      Effect.promise(() => verifyStone(stone.record, given))
    assert.deepStrictEqual(yield* verdict(sealed), { ok: true })
    const other = yield* verdict({ ...sealed, words: "Other words." })
    assert.isFalse(other.ok)
  })
})
