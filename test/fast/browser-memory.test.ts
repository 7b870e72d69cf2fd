/** A browser's memory of the chain survives all later pages. */
import { afterEach, assert, beforeEach, describe, it, vi } from "@effect/vitest"
import { forget, history, newest, record } from "../../src/web/v2/proof/history.ts"
import { browser } from "../../src/web/v2/page/store.ts"

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
