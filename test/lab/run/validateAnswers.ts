/** Setup of each test file: after every test, no answer that was heard may differ from the document. */
import { afterAll, afterEach, assert } from "vitest"
import { newFaults } from "./AnswerValidation.ts"

const judge = async () => {
  assert.deepStrictEqual(await newFaults(), [], "an answer is not what schema/openapi.json says")
}

afterEach(judge)
// What was heard while a file was being left is its own, not the next one's.
afterAll(judge)
