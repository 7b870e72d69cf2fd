/** Questions about balances and final blocks: in requests of a size that nodes accept, and never answered by a dead branch. */
import { assert, layer } from "../lab/It.ts"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { Context, Duration, Effect, Layer, Option, Redacted } from "effect"
import { numberToHex } from "viem"
import { Chain } from "../../src/payments/x402/chain/Chain.ts"
import { listening } from "../lab/proxy/HttpServer.ts"
import { assertNone } from "../lab/Assertions.ts"
import { realClock } from "../lab/TestServices.ts"
import { lasting } from "../lab/TransferLogs.ts"

const word = (value: number) => numberToHex(value, { size: 32 })
const block = { number: "0x5", hash: word(5), timestamp: "0x1" }

interface Call {
  readonly id: number
  readonly method: string
  readonly params: ReadonlyArray<unknown>
}

/** A chain whose node answers each call like this, which is told how many requests there were; and their sizes. */
const chainOf = Effect.fnUntraced(function* (answer: (call: Call, requests: number) => object) {
  const sizes: Array<number> = []
  const url = yield* listening((body, response) => {
    const calls: ReadonlyArray<Call> = [JSON.parse(body)].flat()
    sizes.push(calls.length)
    const answers = calls.map((call) => ({ id: call.id, ...answer(call, sizes.length) }))
    response.end(JSON.stringify(body.startsWith("[") ? answers : answers[0]))
  })
  const config = { rpcUrl: Redacted.make(url), timeout: Duration.seconds(30) } as const
  return { chain: Context.get(yield* Layer.build(Chain.layer(config)), Chain), sizes }
})

layer(NodeHttpClient.layerUndici, realClock)("the balance before payments in flight", (it) => {
  it.effect("asks a node for at most fifty calls at once", function* () {
    const { chain, sizes } = yield* chainOf(({ method }) => ({
      result: method === "eth_getBlockByNumber" ? block : word(1),
    }))
    const own = { ...lasting, validBefore: 300n, nonce: word(1_000), signature: "0x" } as const
    const inFlight = Array.from({ length: 120 }, (_, index) => ({ nonce: word(index), amountAtomic: 10n }))
    const found = yield* chain.balanceBefore(own, inFlight)
    assert.deepStrictEqual(found, { isUsed: true, balanceAtomic: 1_201n })
    assert.isAtMost(Math.max(...sizes), 50)
  })
})

/** A block of one of two branches, as the head of it says. */
const blockOn = (branch: "a" | "b", number: number) => ({
  number: numberToHex(number),
  hash: numberToHex(BigInt(number) + (branch === "a" ? 0x1_0000n : 0x2_0000n), { size: 32 }),
  timestamp: "0x1",
})

const newest = 1_000

/** Odd and even numbers of requests, so that they are full in the middle of a pair and between two. */
const behind = [1, 25, 49, 50, 99].flatMap((acts): ReadonlyArray<readonly [number, string, object]> => [
  [acts, "has nothing there", { result: null }],
  [acts, "fails there", { error: { code: -32_603, message: "no such block" } }],
])

layer(NodeHttpClient.layerUndici, realClock)(
  "two nodes behind one address, one on a dead branch up to the block before the final one,",
  (it) => {
    it.effect.each(behind)(
      "never make a block of the dead branch final: %s concurrent requests, and the second node %s",
      function* ([acts, , there]) {
        let requests = 0
        const { chain, sizes } = yield* chainOf(({ params: [number] }, times) => {
          requests = times
          const isBehind = times === 2
          const asked = number === "finalized" ? newest : Number(number)
          return isBehind && asked >= newest ? there : { result: blockOn(isBehind ? "b" : "a", asked) }
        })
        const lookAt = (branch: "a" | "b") =>
          Effect.forEach(
            Array.from({ length: acts }, (_, index) => 800 + index),
            (number) => Effect.option(chain.isFinal({ number: BigInt(number), hash: blockOn(branch, number).hash })),
            { concurrency: "unbounded" },
          )
        assertNone(yield* lookAt("b"), (one) => Option.getOrElse(one, () => false))
        assertNone(yield* lookAt("a"), (one) => !Option.getOrElse(one, () => false))
        assert.isAbove(requests, 2)
        assert.isAtMost(Math.max(...sizes), 50)
      },
    )
  },
)
