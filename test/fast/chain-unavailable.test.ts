/** What is logged of a node that cannot be asked holds neither the key in its address nor what was signed. */
import { inspect } from "node:util"
import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Logger } from "effect"
import { createPublicClient, HttpRequestError, http, RpcRequestError } from "viem"
import { unavailable } from "../../src/payments/x402/ChainUnavailable.ts"

const url = "https://node.example/v2/SECRETKEY"
const body = { method: "eth_call", params: ["SIGNATURE"] }

const failures: ReadonlyArray<readonly [what: string, cause: unknown]> = [
  ["a refusal", new HttpRequestError({ url, body, status: 429, details: "slow down" })],
  ["an error of the node", new RpcRequestError({ url, body, error: { code: 3, message: "execution reverted" } })],
  ["something else", new Error(`${url} ${JSON.stringify(body)}`)],
]

/** As the server logs it: beside a sentence, and as the cause of what failed. */
const logged = (error: unknown) =>
  Effect.gen(function* () {
    const lines: Array<string> = []
    const logger = Logger.make((options) => void lines.push(Logger.formatJson.log(options)))
    yield* Effect.logWarning("The chain could not be asked", error).pipe(
      Effect.andThen(Effect.logError("The sweep failed", Cause.fail(error))),
      Effect.provide(Logger.layer([logger])),
    )
    return lines.join("\n") + inspect(error, { depth: 9 }) + String(error)
  })

describe("a node that cannot be asked", () => {
  for (const [what, cause] of failures) {
    it.effect(`is logged without its key after ${what}`, () =>
      Effect.gen(function* () {
        const error = unavailable("eth_call", cause)
        const text = yield* logged(error)
        assert.include(text, "eth_call")
        assert.notMatch(text, /SECRETKEY|SIGNATURE/u)
      }),
    )
  }

  it.live("is logged without its key when nobody answers", () =>
    Effect.gen(function* () {
      const client = createPublicClient({ transport: http("http://127.0.0.1:1/v2/SECRETKEY", { retryCount: 0 }) })
      const cause = yield* Effect.promise(() => client.getBlockNumber().catch((error: unknown) => error))
      assert.include(inspect(cause, { depth: 9 }), "SECRETKEY", "viem's own error names the address")
      assert.notMatch(yield* logged(unavailable("eth_blockNumber", cause)), /SECRETKEY/u)
    }),
  )
})
