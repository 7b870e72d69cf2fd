/** Seals and chains are checked by hashing alone, and whatever does not hold is named by its stone. */
import { createHash } from "node:crypto"
import { normalize, seal, type Segment, verifySegment, verifyStone } from "../../src/buyer/index.ts"
import { vectors } from "../../src/agents/Words.ts"
import { madeReceiptFile } from "../lab/buyer/ReceiptFiles.ts"
import { entriesOf, hashAt, segmentOf } from "../lab/log/StaticLog.ts"
import { assert, describe, it, rejected } from "../lab/Suites.ts"

const words = "The heron will return by May."

describe("the recipe of a seal", () => {
  it("reproduces every published vector", async () => {
    assert.isNotEmpty(vectors)
    for (const vector of vectors) assert.deepStrictEqual(await seal(vector.words, vector.salt), { ...vector })
    const { commitment, salt } = await seal(` ${words}\r\n`)
    const text = `${salt}\0${normalize(words)}`
    assert.strictEqual(commitment, createHash("sha256").update(text).digest("hex"))
    assert.match(salt, /^[0-9a-f]{32}$/u)
    assert.notStrictEqual((await seal(words)).salt, salt)
  })

  it("refuses words that could never be revealed", async () => {
    for (const [text, salt] of [
      [""],
      ["x".repeat(281)],
      [words, "too short"],
      [words, "s".repeat(257)],
      ["with a \0 inside"],
    ] as const)
      assert.match((await rejected(seal(text, salt))).message, /This request charged nothing\.$/u)
    assert.lengthOf((await seal("x".repeat(280))).commitment, 64)
  })
})

const chain = entriesOf(5)

const segment = (from: number, limit: number): Segment => ({
  anchor: { sequence: from - 1, chainHash: hashAt(chain, from - 1) },
  ...segmentOf(chain, from, limit),
})

const [whole, rest] = [segment(1, 100), segment(3, 100)]
const forged = "f".repeat(64)
const with3 = (change: object): Segment => ({
  ...whole,
  entries: whole.entries.map((entry) => (entry.sequence === 3 ? { ...entry, ...change } : entry)),
})

describe("a chain", () => {
  it("verifies whole and piece by piece", async () => {
    const head = { sequence: 2, chainHash: hashAt(chain, 2) }
    assert.deepStrictEqual(await verifySegment(segment(1, 2)), { ok: true, links: 2, head })
    for (const anchor of [head, undefined])
      assert.deepStrictEqual(await verifySegment(rest, anchor), { ok: true, links: 3, head: whole.head })
    assert.deepStrictEqual(await verifySegment(whole), { ok: true, links: 5, head: whole.head })
  })

  it.each<readonly [what: string, Segment, sequence: number, reason: RegExp, anchor: Segment["anchor"] | undefined]>([
    ["a commitment", with3({ commitment: forged }), 3, /its parts hash to/u, undefined],
    ["a time", with3({ witnessedAt: "2020-01-01T00:00:00.000Z" }), 3, /its parts hash to/u, undefined],
    ["a hash", with3({ chainHash: forged }), 3, /but it says f{64}/u, undefined],
    ["a link", with3({ previousHash: forged }), 3, /it follows f{64}/u, undefined],
    [
      "a gap",
      { ...whole, entries: whole.entries.filter((one) => one.sequence !== 3) },
      4,
      /where stone 3 should/u,
      undefined,
    ],
    ["a missing end", { ...whole, entries: whole.entries.slice(0, 4) }, 5, /the head is stone 5/u, undefined],
    [
      "no stone",
      { ...whole, anchor: { sequence: 0, chainHash: forged }, entries: [] },
      1,
      /the head is stone 5/u,
      undefined,
    ],
    ["another beginning", rest, 3, /it follows/u, { sequence: 2, chainHash: forged }],
    ["a later beginning", whole, 1, /where stone 8 should/u, { sequence: 7, chainHash: forged }],
  ])("with %s altered is found out at its stone", async (_, altered, sequence, reason, anchor) => {
    const verdict = await verifySegment(altered, anchor)
    if (verdict.ok) return assert.fail("it verifies")
    assert.strictEqual(verdict.sequence, sequence, verdict.reason)
    assert.match(verdict.reason, reason)
  })

  it("holds sealed words, and no others", async () => {
    const { record, reveal } = (await madeReceiptFile()).file
    const verdict = (text: string) => verifyStone(record, { salt: reveal.salt, words: text })
    assert.deepStrictEqual(await verdict(reveal.text), { ok: true })
    assert.isFalse((await verdict("Other words.")).ok)
  })
})
