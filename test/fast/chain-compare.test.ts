/** A chain's answer against the page and the browser's memory: each part that differs, and stones that are missing. */
import { assert, describe, it } from "@effect/vitest"
import { differencesOf, headline, type Known, shorterOf, shorterWords } from "../../src/web/v2/proof/compare.ts"
import { parts, type Stone } from "../../src/web/v2/proof/rendered.ts"

const stone = (sequence: number): Stone => ({
  sequence,
  id: `id-${sequence}`,
  commitment: "c",
  witnessedAt: "2026-11-22T12:00:00.000Z",
  transaction: "t",
  previousHash: `hash-${sequence - 1}`,
  chainHash: `hash-${sequence}`,
})
const saw = (sequence: number, chainHash = `hash-${sequence}`) =>
  [sequence, { sequence, chainHash, at: 0, isWalked: false }] as const
const known = (...seen: ReadonlyArray<ReturnType<typeof saw>>): Known => ({
  stones: new Map([1, 2, 3].map((sequence) => [sequence, stone(sequence)])),
  head: { sequence: 3, chainHash: "hash-3" },
  seen: new Map(seen),
})

describe("an answered link", () => {
  it.each(parts)("with another %s than the page's differs in that part alone", (part) => {
    assert.deepStrictEqual(differencesOf(stone(3), known()), [])
    const [difference, ...others] = differencesOf({ ...stone(3), [part]: "other" }, known())
    assert.deepInclude(difference, { sequence: 3, part, chain: "other", page: stone(3)[part] })
    assert.deepStrictEqual(others, [])
  })

  it("with another hash than this browser saw differs, even where the newest one fits and its clock ran fast", () => {
    const memory = known(saw(1, "other"), saw(3))
    assert.deepStrictEqual(differencesOf(stone(3), memory), [])
    const differences = differencesOf(stone(1), memory)
    assert.strictEqual(differences[0]?.saw?.chainHash, "other")
    assert.match(headline({ differences, shorter: undefined })[0], /^History differs from what this browser saw on/u)
  })
})

describe("an answered chain", () => {
  it("that ends before a stone of the page or of this browser's memory is too short", () => {
    assert.isUndefined(shorterOf(3, known(saw(3))))
    const shorter = shorterOf(2, known(saw(3))) ?? assert.fail("nothing is missing")
    assert.match(
      shorterWords(shorter),
      /ends at stone 2, but this page shows stone 3, and this browser saw stone 3 on/u,
    )
    const empty = shorterOf(0, { stones: new Map(), head: undefined, seen: known(saw(3)).seen })
    if (empty === undefined) return assert.fail("nothing is missing")
    assert.match(shorterWords(empty), /ends before its first stone, but this browser saw stone 3 on/u)
  })
})
