/** A node of the reader's choice, which says what a transaction moved. */
import { Duration, Effect, Redacted } from "effect"
import { usdcOn } from "../../../schema/payments/Usdc.ts"
import { Chain } from "../../payments/x402/chain/Chain.ts"
import { inLowerCase } from "../../payments/x402/chain/Eip3009.ts"
import { getChainId, isUsed } from "../../payments/x402/chain/Questions.ts"
import type { ChainUnavailable } from "../../payments/x402/chain/Rpc.ts"
import { CommandFailure } from "../CommandFailure.ts"
import { plain } from "../Output.ts"
import { again } from "./Download.ts"

const timeout = Duration.seconds(30)

export const nodeAt = Effect.fn("nodeAt")(function* (rpcUrl: string) {
  if (!URL.canParse(rpcUrl)) return yield* new CommandFailure({ message: plain(`${rpcUrl} is no URL of a node.`) })
  const { ask, receiptOf } = yield* Chain.make({ rpcUrl: Redacted.make(rpcUrl), timeout })
  const answered = <A>(question: Effect.Effect<A, ChainUnavailable>) =>
    question.pipe(
      Effect.retry({ while: ({ code, status = 500 }) => code === undefined && status >= 429, schedule: again }),
      Effect.mapError(
        ({ message }) =>
          new CommandFailure({
            message: plain(`${rpcUrl} could not be asked: ${message}. Name another with --rpc, or try again later.`),
          }),
      ),
    )
  const network = `eip155:${yield* answered(ask(getChainId()))}`
  return {
    network,
    /** USDC of the network; undefined where no altar is paid. */
    usdc: usdcOn(network),
    receiptOf: (transaction: string, asset: string) =>
      answered(receiptOf(inLowerCase(transaction), inLowerCase(asset))),
    isUsed: (asset: string, from: string, nonce: string) =>
      answered(
        ask(isUsed({ asset: inLowerCase(asset), from: inLowerCase(from), nonce: inLowerCase(nonce) }, "latest")),
      ),
  }
})

export type Node = Effect.Success<ReturnType<typeof nodeAt>>
