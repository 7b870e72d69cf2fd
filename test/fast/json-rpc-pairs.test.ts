/** Two questions that are asked together are answered by one node, also where two nodes stand behind one address. */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { Effect, Result } from "effect"
import { numberToHex } from "viem"
import { Chain } from "../../src/payments/x402/node/Chain.ts"
import { type Call, echo, fine, isBatch, nodeThat, patient, served } from "../lab/JsonRpcNode.ts"
import { assert, assertNone, suite } from "../lab/Suites.ts"

const undici = NodeHttpClient.layerUndici

/** A block of one of two branches, as the head of it says. */
const blockOn = (branch: "a" | "b", number: number) => ({
  number: numberToHex(number),
  hash: numberToHex(BigInt(number) + (branch === "a" ? 0x1_0000n : 0x2_0000n), { size: 32 }),
  timestamp: "0x1",
})

const newest = 1_000

suite("two nodes behind one address, one on a dead branch up to the block before the final one,", undici, (it) => {
  const missing = { result: null }
  const failing = { error: { code: -32_603, message: "no such block" } }
  for (const [how, there] of [
    ["has nothing there", missing],
    ["fails there", failing],
  ] as const) {
    // Odd and even numbers of them, so that requests are full in the middle of a pair and between two.
    for (const acts of [1, 25, 49, 50, 99]) {
      it(`never make a block of the dead branch final: ${acts} concurrent requests, and the second node ${how}`, function* () {
        let requests = 0
        const { heard, url } = yield* served((calls, response) => {
          requests += 1
          const isBehind = requests === 2
          const one = ({ id, params: [block] }: Call) => {
            const number = block === "finalized" ? newest : Number(block)
            return isBehind && number >= newest
              ? { id, ...there }
              : { id, result: blockOn(isBehind ? "b" : "a", number) }
          }
          response.end(JSON.stringify(isBatch(calls) ? calls.map(one) : one(calls)))
        })
        const isFinal = Effect.gen(function* () {
          const chain = yield* Chain
          const lookAt = (branch: "a" | "b") => (index: number) => {
            const { hash } = blockOn(branch, 800 + index)
            return Effect.result(chain.isFinal({ number: BigInt(800 + index), hash }))
          }
          const all = Array.from({ length: acts }, (_, index) => index)
          const concurrency = "unbounded"
          return {
            dead: yield* Effect.forEach(all, lookAt("b"), { concurrency }),
            alive: yield* Effect.forEach(all, lookAt("a"), { concurrency }),
          }
        })
        const { alive, dead } = yield* isFinal.pipe(
          Effect.provide(Chain.layer({ rpcUrl: url, finalTag: "finalized", timeout: patient })),
        )
        assert.isAbove(requests, 2)
        assert.isAtMost(Math.max(...heard.map((calls) => [calls].flat().length)), 50)
        assertNone(dead, (one) => Result.isSuccess(one) && one.success)
        assert.isTrue(alive.every((one) => Result.isSuccess(one) && one.success))
      })
    }
  }
})

suite("a pair of calls", undici, (it) => {
  it("reports each refusal, and repeats as a pair when one answer takes all the bytes", function* () {
    const { ask, askPair, heard } = yield* nodeThat((calls, response) => {
      if ([calls].flat().some(({ params }) => params[0] === "endless"))
        return void response.write("[".padEnd(2_000_000))
      const one = (call: Call) =>
        call.params[0] === "reverts" ? { id: call.id, error: { code: 3, message: "reverted" } } : echo(call)
      return void response.end(JSON.stringify(isBatch(calls) ? calls.map(one) : one(calls)))
    }, patient)
    const [both] = yield* Effect.all(
      [askPair(["eth_call", ["first"]], ["eth_call", ["reverts"]]), Effect.flip(ask("eth_call", ["endless"]))],
      { concurrency: "unbounded" },
    )
    assert.deepStrictEqual(both.map(Result.match({ onSuccess: String, onFailure: ({ code }) => String(code) })), [
      fine[0],
      "3",
    ])
    assert.deepStrictEqual(heard.map((calls) => [calls].flat().length).sort(), [1, 2, 3])
  })
})
