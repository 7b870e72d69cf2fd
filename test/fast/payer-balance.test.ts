/** A wallet's balance is read with the state of all its payments in flight, in requests of a size that nodes accept. */
import { assert, layer } from "@effect/vitest"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { Context, Duration, Effect, Layer, Redacted } from "effect"
import { numberToHex } from "viem"
import { Chain } from "../../src/payments/chain/Chain.ts"
import { listening } from "../lab/proxy/HttpServer.ts"
import { realClock } from "../lab/TestServices.ts"
import { lasting } from "../lab/TransferLogs.ts"

const word = (value: number) => numberToHex(value, { size: 32 })
const block = { number: "0x5", hash: word(5), timestamp: "0x1" }

layer(NodeHttpClient.layerUndici, realClock)("the balance before payments in flight", (it) => {
  it.effect("asks a node for at most fifty calls at once", () =>
    Effect.gen(function* () {
      const sizes: Array<number> = []
      const url = yield* listening((body, response) => {
        const calls = [JSON.parse(body)].flat()
        sizes.push(calls.length)
        const answers = calls.map(({ id, method }) => ({
          id,
          result: method === "eth_getBlockByNumber" ? block : word(1),
        }))
        response.end(JSON.stringify(body.startsWith("[") ? answers : answers[0]))
      })
      const config = { rpcUrl: Redacted.make(url), finalTag: "finalized", timeout: Duration.seconds(10) } as const
      const chain = Context.get(yield* Layer.build(Chain.layer(config)), Chain)
      const own = { ...lasting, validBefore: 300n, nonce: word(1_000), signature: "0x" } as const
      const inFlight = Array.from({ length: 120 }, (_, index) => ({ nonce: word(index), amountAtomic: 10n }))
      const found = yield* chain.balanceBefore(own, inFlight)
      assert.deepStrictEqual(found, { isUsed: true, balanceAtomic: 1_201n })
      assert.isAtMost(Math.max(...sizes), 50)
    }),
  )
})
