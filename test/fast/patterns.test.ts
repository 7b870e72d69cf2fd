/** Every pattern of the document is in the syntax that the languages of its readers share. */
import { assert, describe, it } from "@effect/vitest"
import { jsonOf } from "../lab/Sources.ts"

/** The patterns of all schemas; examples are data. */
const patternsIn = (value: unknown): ReadonlyArray<string> =>
  typeof value !== "object" || value === null
    ? []
    : Object.entries(value).flatMap(([name, one]) =>
        ["example", "examples"].includes(name)
          ? []
          : name === "pattern" && typeof one === "string"
            ? [one]
            : patternsIn(one),
      )

const texts = [
  "",
  "Wren",
  "0".repeat(64),
  "tab\there",
  "nul\0here",
  "two\nlines",
  "é 🪨 ١",
  "2026-11-21",
  "2026-11-21T09:17:02.115Z",
  "$0.01",
  "#d9a441",
  "/api/witness",
  "eip155:8453",
  "a-key-of-mine_1",
]

describe("the patterns of the document", () => {
  const patterns = [...new Set(patternsIn(jsonOf("schema/openapi.json")))]

  it("use only common regular-expression syntax", () => {
    assert.isAtLeast(patterns.length, 20)
    for (const pattern of patterns) {
      assert.notMatch(pattern, /\\[pPuUkKhHvVzZAQEGRX]|\(\?|\\[1-9]|\[\^?\]|&&|\[\[|[+*?}][+]/u, pattern)
      // Go counts no further.
      for (const [, most = ""] of pattern.matchAll(/\{(?:\d+,)?(\d+)\}/gu)) assert.isAtMost(Number(most), 1000, pattern)
      assert.match(pattern, /^\^[\x20-\x7e]*\$$/u, pattern)
    }
  })

  it("compile in JavaScript and mean the same with and without the `u` flag", () => {
    for (const pattern of patterns)
      for (const text of texts)
        assert.strictEqual(new RegExp(pattern, "u").test(text), new RegExp(pattern).test(text), pattern)
  })
})
