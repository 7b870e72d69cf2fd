/** The built program that checks signatures: where it failed to start, the server would be right and slow. */
import * as Thread from "../../src/platform/Thread.ts"
import { signingLength } from "../../src/payments/x402/verification/SigningKey.ts"
import { assert, live } from "../lab/Suites.ts"

live("the thread that checks signatures answers each check", function* () {
  const ask = yield* Thread.make<Uint8Array, Uint8Array>(Thread.programOf("signing-keys"))
  assert.deepStrictEqual([...(yield* ask(new Uint8Array(3 * signingLength)))], [0, 0, 0])
})
