/** A browser's memory of the chain survives all later pages, and an answer is compared with it and with the page. */
import { afterEach, assert, beforeEach, describe, it, vi } from "@effect/vitest"
import { forget, history, newest, record } from "../../src/web/v2/proof/history.ts"
import { browser } from "../../src/web/v2/page/store.ts"
import { differencesOf, headline, type Known, shorterOf, shorterWords } from "../../src/web/v2/proof/compare.ts"
import { parts, type Stone } from "../../src/web/v2/proof/rendered.ts"

const day = 86_400_000
const now = Date.parse("2026-11-22T12:00:00.000Z")

const hashOf = (letter: string) => letter.repeat(64)
const points = (from: number, to: number, letter: string) =>
  Array.from({ length: to - from + 1 }, (_, index) => ({ sequence: from + index, chainHash: hashOf(letter) }))
const sequences = () => history().map(({ sequence }) => sequence)

describe("a browser's memory of the chain", () => {
  beforeEach(() => {
    vi.useFakeTimers({ now, toFake: ["Date"] })
    forget()
  })
  afterEach(() => vi.useRealTimers())

  it("survives many forged stones of the same day, of later days, or with a higher head", () => {
    record(points(1, 24, "a"))
    for (let page = 0; page < 40; page++) record(points(1000 + page * 24, 1023 + page * 24, "f"))
    assert.includeMembers(sequences(), [1, 2, 23, 24])
    for (let later = 1; later <= 8; later++) {
      vi.setSystemTime(now + later * day)
      for (let page = 0; page < 20; page++) record(points(9000 * later + page * 24, 9000 * later + 23 + page * 24, "f"))
    }
    assert.strictEqual(history().filter(({ chainHash }) => chainHash === hashOf("a")).length, 24)
    assert.isAtMost(history().length, 240)
    assert.strictEqual(newest(history())?.sequence, 72_479)
  })

  it("keeps each checked stone, whenever it was first shown", () => {
    const walked = { sequence: 300, chainHash: hashOf("a") }
    record(points(1, 300, "a"))
    record([walked], true)
    record([{ sequence: 1, chainHash: hashOf("b") }], true)
    for (let later = 1; later <= 400; later++) {
      vi.setSystemTime(now + later * day)
      record(points(1000 + later, 1001 + later, "f"))
    }
    assert.deepStrictEqual(
      history().filter(({ isWalked }) => isWalked),
      [{ ...walked, at: now, isWalked: true }],
    )
    assert.include(sequences(), 1)
    assert.strictEqual(newest(history())?.sequence, 1401)
  })

  it("reads the format of older pages, and never overwrites it", () => {
    browser.set("altar:seen", JSON.stringify([[7, hashOf("a"), now - day], [8, 9, 10], "nothing"]))
    record([...points(7, 8, "b")])
    assert.deepStrictEqual(history(), [
      { sequence: 7, chainHash: hashOf("a"), at: now - day, isWalked: false },
      { sequence: 8, chainHash: hashOf("b"), at: now, isWalked: false },
    ])
  })
})

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
