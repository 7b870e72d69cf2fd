/** What is logged of a node that cannot be asked holds neither the key in its address nor what was signed. */
import { inspect } from "node:util"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { assert, layer } from "@effect/vitest"
import { Cause, Duration, Effect, Logger, Redacted } from "effect"
import * as JsonRpc from "../../src/payments/x402/node/JsonRpc.ts"
import { listening } from "../lab/Socket.ts"
import * as RelayerNode from "../../src/payments/x402/relayer/RelayerNode.ts"

const secret = "SECRETKEY"
const question = ["eth_call", [{ data: "SIGNATURE" }]] as const

/** A node that answers every request alike; none at all listens at the address of the last one. */
const nodes: ReadonlyArray<readonly [what: string, status: number, body: string]> = [
  ["a refusal", 404, "slow down"],
  ["an error of the node", 200, '{"id":1,"error":{"code":3,"message":"execution reverted","data":"0x"}}'],
  ["an answer that makes no sense", 200, "<html>SECRETKEY</html>"],
  ["nothing", 0, ""],
]

const addressOf = Effect.fnUntraced(function* (status: number, body: string) {
  const base =
    status === 0 ? "http://127.0.0.1:1" : yield* listening((_, response) => response.writeHead(status).end(body))
  return `${base}/v2/${secret}`
})

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

layer(NodeHttpClient.layerUndici, { excludeTestServices: true })("a node that cannot be asked", (it) => {
  it.effect.each(nodes)("is logged without its key after %s", ([, status, body]) =>
    Effect.gen(function* () {
      const url = Redacted.make(yield* addressOf(status, body))
      const node = yield* JsonRpc.make({ url, timeout: Duration.seconds(10) })
      const ours = yield* Effect.flip(node.ask(...question))
      const relayers = yield* Effect.flip(
        RelayerNode.make(node, Duration.seconds(10)).readAll(`0x${"51".repeat(20)}`, ["0x51"]),
      )
      assert.include(yield* logged(ours), "eth_call")
      assert.include(relayers.text, relayers.answered ? "execution reverted" : "eth_call")
      for (const error of [ours, relayers]) assert.notMatch(yield* logged(error), /SECRETKEY|SIGNATURE|127\.0\.0\.1/u)
    }),
  )
})
