/** The token's own answers about a sale: a question that it cannot answer is no obstacle. */
import { assert, describe, it } from "../lab/It.ts"
import { Effect, Layer } from "effect"
import { Chain } from "../../src/payments/x402/chain/Chain.ts"
import { TokenWatch } from "../../src/payments/x402/chain/NodeWatch.ts"
import { ChainUnavailable } from "../../src/payments/x402/chain/Rpc.ts"
import { answering } from "../lab/ScriptedChain.ts"

describe.concurrent("a token without paused() and isBlacklisted()", () => {
  const watching = (answer: Effect.Effect<unknown, ChainUnavailable>) =>
    Effect.flatMap(TokenWatch, ({ obstacleNow }) => obstacleNow).pipe(
      Effect.provide(
        TokenWatch.layer({ asset: `0x${"1".repeat(40)}`, payTo: `0x${"2".repeat(40)}` }).pipe(
          Layer.provideMerge(Layer.mock(Chain, { ask: answering(answer) })),
        ),
      ),
    )
  const refusal = (facts: object) =>
    Effect.fail(new ChainUnavailable({ method: "eth_call", reason: "refused the question", ...facts }))

  it.live("is taken as neither paused nor blocking, whether the missing call reverts or returns nothing", function* () {
    assert.isUndefined(yield* watching(refusal({ code: 3, detail: "execution reverted" })))
    assert.isUndefined(yield* watching(Effect.succeed("0x")))
    assert.isUndefined(yield* watching(Effect.succeed(`0x${"0".repeat(64)}`)))
    assert.match(String(yield* watching(Effect.succeed(`0x${"1".padStart(64, "0")}`))), /paused/u)
    assert.match(String(yield* watching(refusal({ status: 502 }))), /node/u)
  })
})
