/** The validating pass: whatever any test hears from a server of ours has to be what the document says. */
import { afterEach, assert } from "vitest"
import { newFaults } from "./Hearing.ts"

afterEach(async () => {
  assert.deepStrictEqual(await newFaults(), [], "an answer is not what schema/openapi.json says")
})
