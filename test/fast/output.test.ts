/** The output of commands: untrusted names reach the terminal without the characters that reorder or break a line. */
import { assert, describe, it } from "@effect/vitest"
import { compact, isolated, plain, pretty } from "../../src/cli/Output.ts"

const turning = ["\u202e", "\u2066", "\u200f", "\u061c", "\u2028", "\u0085", "\u001b", "\u007f"]

describe("an untrusted name", () => {
  it.each(turning)("is printed without %j", (character) => {
    const name = `Wren${character}nerW`
    for (const printed of [plain(name), pretty({ name }), compact({ name })]) assert.notInclude(printed, character)
    assert.deepStrictEqual(JSON.parse(pretty({ name })), { name }, "the value stays")
  })

  it("is isolated within a line where its letters could turn the line", () => {
    assert.strictEqual(isolated("\u05d0\u05d1\u202e"), "\u2068\u05d0\u05d1 \u2069")
    assert.strictEqual(isolated("Wren"), "Wren")
  })
})
