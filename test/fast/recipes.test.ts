/** The recipes others compute too, held to fixed vectors. */
import { assert, describe, it } from "@effect/vitest"
import { normalize, normalizedLength } from "../../schema/altar/Commitment.ts"
import { spiritOf } from "../../schema/altar/Spirit.ts"
import { chainHash, seal } from "../../src/altar/Hashes.ts"
import { canonicalJson } from "../../schema/payments/CanonicalJson.ts"
import { retryAfterSeconds } from "../../src/payments/protocol/Decision.ts"

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
