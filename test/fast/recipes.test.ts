/** The recipes others compute too, held to fixed vectors. A fault in a chain is named by its stone. */
import { createHash } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import { normalize, normalizedLength } from "../../schema/altar/Recipe.ts"
import { spiritOf } from "../../schema/altar/Spirit.ts"
import { chainHash, mismatchOf, seal, sha256 } from "../../src/altar/Hashes.ts"
import { canonicalJson } from "../../schema/payments/CanonicalJson.ts"
import { publicationHash } from "../../src/altar/collectibles/PublicationChain.ts"
import { retryAfterSeconds } from "../../src/payments/decision.ts"
import { seal as sealing, type Segment, type Trust, type Verified, verify } from "../../src/buyer/index.ts"
import { vectors } from "../../src/agents/Words.ts"
import { madeReceiptFile } from "../lab/buyer/ReceiptFiles.ts"
import { entriesOf, hashAt, segmentOf } from "../lab/log/StaticLog.ts"
import { rejected } from "../lab/Assertions.ts"

const words = "The heron will return by May."

describe("a commitment", () => {
  it("is SHA-256 over salt, NUL and normalized words", () => {
    // printf 'sixteen-chars-ok\0hello' | sha256sum
    assert.strictEqual(
      seal("sixteen-chars-ok", "hello"),
      "91de83b1a54270846ea2487a374c42d37984a976ec150a81b365dd028173c0cf",
    )
  })
  it("ignores line ends, outer white space and composition", () => {
    const base = seal("sixteen-chars-ok", "é\nb")
    for (const words of ["e\u0301\r\nb", "é\rb", " \u3000é\nb\t\n", "\u00a0é\nb\u2028"])
      assert.strictEqual(seal("sixteen-chars-ok", words), base)
  })
  it("changes with every other difference", () => {
    const all = ["a b", "a  b", "A b", "a\tb", "a\u200bb", "ａ b"].map((words) => seal("sixteen-chars-ok", words))
    assert.strictEqual(new Set(all).size, all.length)
  })
  it("counts code points after normalization", () => {
    assert.strictEqual(normalizedLength(" 😀\r\n😀 "), 3)
    assert.strictEqual(normalize("\r\n\r"), "")
  })

  it("is made by the library as the published vectors say, with a fresh salt", async () => {
    assert.isNotEmpty(vectors)
    for (const { json: _, ...vector } of vectors)
      assert.deepStrictEqual(await sealing(vector.words, vector.salt), vector)
    const { commitment, salt } = await sealing(` ${words}\r\n`)
    const text = `${salt}\0${normalize(words)}`
    assert.strictEqual(commitment, createHash("sha256").update(text).digest("hex"))
    assert.match(salt, /^[0-9a-f]{32}$/u)
    assert.notStrictEqual((await sealing(words)).salt, salt)
  })

  it("is made by the library of no words that could never be revealed", async () => {
    for (const [text, salt] of [
      [""],
      ["x".repeat(281)],
      [words, "too short"],
      [words, "s".repeat(257)],
      ["with a \0 inside"],
    ] as const)
      assert.match((await rejected(sealing(text, salt))).message, /This request charged nothing\.$/u)
    assert.lengthOf((await sealing("x".repeat(280))).commitment, 64)
  })
})

describe("a chain hash", () => {
  it("is SHA-256 over the five parts with NUL between them", () => {
    const link = {
      previousHash: "0".repeat(64),
      sequence: 1,
      commitment: "ab".repeat(32),
      witnessedAt: "2026-11-21T09:17:02.115Z",
      transaction: `0x${"cd".repeat(32)}`,
    }
    assert.strictEqual(chainHash(link), "01fd817f68a75d20533f2388c39c63cc042fc78eaa1fc8f4b4524b091b333e5c")
    assert.notStrictEqual(chainHash({ ...link, sequence: 2 }), chainHash(link))
  })
  it("of a publication is SHA-256 over its nine parts", () => {
    const edition = { type: "edition", itemId: "beeswax", manifestHash: "m", edition: 3, keeper: "0xa" } as const
    const entry = { ...edition, transaction: "0xt", publishedAt: "now" }
    const parts = ["p", "2", "edition", "beeswax", "m", "3", "0xa", "0xt", "now"]
    assert.strictEqual(publicationHash(entry, { previousHash: "p", sequence: 2 }), sha256(parts.join("\0")))
  })
})

describe("by the published recipes,", () => {
  it("the spirit of a commitment is its value modulo 24", () => {
    assert.strictEqual(spiritOf("0".repeat(64)), "moss-hare")
    assert.strictEqual(spiritOf(`${"0".repeat(62)}17`), "brass-cicada")
    assert.strictEqual(spiritOf(`${"0".repeat(62)}18`), "moss-hare")
  })
  it("canonical JSON sorts members and keeps arrays", () => {
    assert.strictEqual(
      canonicalJson({ b: [3, "x", null], a: { d: 1e2, c: "€\n" } }),
      '{"a":{"c":"€\\n","d":100},"b":[3,"x",null]}',
    )
  })
  it("a client asks again about a pending payment after 2, 4, 8 … 60 seconds", () => {
    assert.deepStrictEqual([0, 1, 2, 5, 50].map(retryAfterSeconds), [2, 4, 8, 60, 60])
  })
})

const chain = entriesOf(5)

const segment = (from: number, limit: number): Segment => ({
  ok: true,
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
    for (const [part, end, links, trust] of [
      [segment(1, 2), head, 2, {}],
      [rest, whole.head, 3, { anchor: head }],
      [rest, whole.head, 3, {}],
      [whole, whole.head, 5, {}],
      [JSON.stringify(whole), whole.head, 5, {}],
    ] as const) {
      const verdict = await verify(part, trust)
      assert.deepInclude(verdict, { kind: "segment", ok: true, head: end })
      assert.match(verdict.checks[0]?.says ?? "", new RegExp(`^${links} links hash and follow`, "u"))
    }
    const states = async (trust: Trust) =>
      (await verify(rest, trust)).checks.map(({ name, state }) => `${name} ${state}`)
    assert.deepStrictEqual(
      [await states({}), await states({ anchor: head })],
      [["links holds", "anchor open"], ["links holds"]],
    )
  })

  const without3 = whole.entries.filter(({ sequence }) => sequence !== 3)
  const unrelated = { sequence: 0, chainHash: forged }
  it.each<readonly [what: string, Segment, sequence: number, reason: RegExp, anchor: Segment["anchor"] | undefined]>([
    ["a commitment", with3({ commitment: forged }), 3, /its parts hash to/u, undefined],
    ["a time", with3({ witnessedAt: "2020-01-01T00:00:00.000Z" }), 3, /its parts hash to/u, undefined],
    ["a hash", with3({ chainHash: forged }), 3, /but it says f{64}/u, undefined],
    ["a link", with3({ previousHash: forged }), 3, /it follows f{64}/u, undefined],
    ["a gap", { ...whole, entries: without3 }, 4, /where stone 3 should/u, undefined],
    ["a missing end", { ...whole, entries: whole.entries.slice(0, 4) }, 5, /the head is stone 5/u, undefined],
    ["no stone", { ...whole, anchor: unrelated, entries: [] }, 1, /the head is stone 5/u, undefined],
    ["another beginning", rest, 3, /it follows/u, { sequence: 2, chainHash: forged }],
    ["a later beginning", whole, 1, /where stone 8 should/u, { sequence: 7, chainHash: forged }],
  ])("with %s altered is found out at its stone", async (_, altered, sequence, reason, anchor) => {
    const { checks, head, ok } = await verify(altered, anchor === undefined ? {} : { anchor })
    assert.deepStrictEqual([ok, head, checks[0]?.state], [false, undefined, "broken"])
    assert.match(checks[0]?.says ?? "", new RegExp(`^Stone ${sequence}: .*${reason.source}`, "u"))
  })

  it("holds sealed words and those that it shows, and no others", async () => {
    const { record, reveal } = (await madeReceiptFile()).file
    const saying = (name: string, { checks, ok }: Verified) => {
      const { says, state } = checks.find((check) => check.name === name) ?? {}
      return [ok, state, says]
    }
    const own = async (text: string) =>
      saying("sealed", await verify(record, { sealed: { salt: reveal.salt, words: text } }))
    assert.deepStrictEqual((await own(reveal.text)).slice(0, 2), [true, "holds"])
    assert.deepStrictEqual((await own("Other words.")).slice(0, 2), [false, "broken"])
    const shown = async (text: string) => saying("words", await verify({ ...record, reveal: { ...reveal, text } }))
    assert.deepStrictEqual((await shown(reveal.text)).slice(0, 2), [true, "holds"])
    const [ok, state, says] = await shown("Something that came true.")
    assert.deepStrictEqual([ok, state], [false, "broken"])
    assert.match(String(says), /^Its revealed words and their salt hash to [0-9a-f]{64}, but/u)
  })
})

describe("a commitment that other trimming explains", () => {
  const salt = "sixteen-chars-ok"
  const hashed = (words: string) => sha256(`${salt}\0${words}`)
  it.each([
    ["\ufeffhello", "hello", /JavaScript's `trim`.*Send the words without/u],
    ["hello\u001f", "hello", /Python's `strip`.*Send the words without/u],
    [" hello", " hello", /no trimming.*cannot be opened/u],
    ["hello\u0085", "hello\u0085", /`trim`.*cannot be opened/u],
  ])("is told so: %j", (words, sealed, says) => {
    const { code, message } = mismatchOf(salt, words, hashed(sealed))
    assert.strictEqual(code, "commitment_mismatch")
    assert.match(message, says)
  })

  it("is no guess where nothing explains it", () => {
    assert.match(mismatchOf(salt, "hello", hashed("goodbye")).message, /^Salt and words do not hash/u)
  })
})
