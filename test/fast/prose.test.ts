/** The checker of prose finds each kind of fault, and leaves plain sentences alone. */
import { assert, describe, it } from "@effect/vitest"
import { faultsOf, longest } from "../tools/prose/Sentences.ts"

const messages = (text: string) => faultsOf(text).map(({ message }) => message)

describe("the checker of prose", () => {
  it.each<readonly [kind: string, text: string, fault: RegExp]>([
    ["a subject clause", "Who asks at the same time shares the inquiry.", /subject clause/u],
    ["a clause after a colon", "The rule is this: whatever is older goes.", /subject clause/u],
    ["a clause in the second sentence", "It holds. What was stored stays.", /subject clause/u],
    ["a long sentence", `The server ${"waits and ".repeat(longest)}ends.`, /words, 30 at most/u],
    ["a pronoun for a person", "The server tells nobody.", /nobody/u],
    ["an old word", "The payment is handed in again.", /submit/u],
  ])("finds %s", (_kind, text, fault) => {
    assert.lengthOf(
      messages(text).filter((message) => fault.test(message)),
      1,
    )
  })

  it.each([
    "What is an act?",
    "Concurrent callers share the inquiry.",
    "Returns `whoever` as it stands, see https://example.com/what-was-taken-back.",
    "The limit is 30 words, e.g. in a docstring. What's new is listed below.",
  ])("leaves alone: %s", (text) => {
    assert.deepStrictEqual(messages(text), [])
  })
})
