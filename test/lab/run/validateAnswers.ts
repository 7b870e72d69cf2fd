/** Setup of each test file: after every test, no answer that was heard may differ from the document. */
import { afterAll, afterEach, assert } from "vitest"
import { newFaults } from "./AnswerValidation.ts"

const judge = async () => {
  assert.deepStrictEqual(await newFaults(), [], "an answer is not what schema/openapi.json says")
}

afterEach(judge)
// Answers at the end of a file belong to it, not to the next one.
afterAll(judge)
