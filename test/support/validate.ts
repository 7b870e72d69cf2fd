/** The validating pass: whatever any test hears from a server of ours has to be what the document says. */
import { afterAll, afterEach, assert } from "vitest"
import { newFaults } from "./Hearing.ts"

const judge = async () => {
  assert.deepStrictEqual(await newFaults(), [], "an answer is not what schema/openapi.json says")
}

afterEach(judge)
// What was heard while a file was being left is its own, not the next one's.
afterAll(judge)
