/** A node of the reader's choice, which says what a transaction moved. */
import { Duration, Effect, Option, Redacted } from "effect"
import type { Address } from "../../../schema/Common.ts"
import { usdcOn } from "../../../schema/payments/Usdc.ts"
import { Chain } from "../../payments/x402/chain/Chain.ts"
import {
  inLowerCase,
  pairsInReceipt,
  pairsOf,
  type TokenLog,
  topicOf,
  transferTopic,
  usedTopic,
} from "../../payments/x402/chain/Eip3009.ts"
import { blockAt, getChainId, isTooManyBlocks, isUsed, tokenLogs } from "../../payments/x402/chain/Questions.ts"
import type { ChainUnavailable } from "../../payments/x402/chain/Rpc.ts"
import { CommandFailure } from "../CommandFailure.ts"
import { plain } from "../Output.ts"
import { again } from "./Download.ts"

const timeout = Duration.seconds(30)

export const nodeAt = Effect.fn("nodeAt")(function* (rpcUrl: string) {
  if (!URL.canParse(rpcUrl)) return yield* new CommandFailure({ message: plain(`${rpcUrl} is no URL of a node.`) })
  const { ask, receiptOf, scanOf, timeOf } = yield* Chain.make({ rpcUrl: Redacted.make(rpcUrl), timeout })
  const retried = <A>(question: Effect.Effect<A, ChainUnavailable>) =>
    Effect.retry(question, { while: ({ code, status = 500 }) => code === undefined && status >= 429, schedule: again })
  const answered = <A>(question: Effect.Effect<A, ChainUnavailable>) =>
    retried(question).pipe(
      Effect.mapError(
        ({ message }) =>
          new CommandFailure({
            message: plain(`${rpcUrl} could not be asked: ${message}. Name another with --rpc, or try again later.`),
          }),
      ),
    )
  const network = `eip155:${yield* answered(ask(getChainId()))}`

  /** The token's logs in these blocks, asked in ranges that are halved while the node refuses them. */
  const logsFrom = Effect.fnUntraced(function* (asset: Address, topics: ReadonlyArray<unknown>, first: bigint) {
    const { number: newest } = yield* retried(ask(blockAt("latest")))
    const logs: Array<TokenLog> = []
    let span = newest - first + 1n
    for (let from = first; from <= newest;) {
      const to = from + span - 1n < newest ? from + span - 1n : newest
      const answer = yield* Effect.result(retried(ask(tokenLogs(asset, topics, { from, to }))))
      if (answer._tag === "Success") {
        logs.push(...answer.success)
        from = to + 1n
      } else if (from < to && isTooManyBlocks(answer.failure)) span = (to - from + 1n) / 2n
      else return yield* answer.failure
    }
    return logs
  })

  /** The payments by which a wallet's authorizations paid these addresses since a block. */
  const transfersFrom = Effect.fnUntraced(function* (
    token: string,
    wallet: Address,
    payees: ReadonlyArray<string>,
    first: bigint,
  ) {
    const asset = inLowerCase(token)
    const ours = payees.map(inLowerCase)
    const transfers = yield* logsFrom(asset, [transferTopic, topicOf(wallet), ours.map(topicOf)], first)
    if (transfers.length === 0) return []
    const uses = yield* logsFrom(asset, [usedTopic, topicOf(wallet)], first)
    const recipients = new Set<string>(ours)
    const { pairs, unclear } = pairsOf([...transfers, ...uses], recipients)
    const { logsIn } = yield* scanOf(asset)
    const receipts = yield* Effect.forEach(unclear, (transaction) => retried(logsIn(transaction)))
    const others = receipts.flatMap((logs) =>
      pairsInReceipt(
        Option.getOrElse(logs, () => []),
        recipients,
      ),
    )
    return [...pairs, ...others].filter(({ payer }) => payer === wallet)
  })

  return {
    network,
    transfersFrom,
    /** USDC of the network; undefined where no altar is paid. */
    usdc: usdcOn(network),
    timeOf: (block: bigint) => answered(timeOf(block)),
    /** Whether no reorganisation can move what this block holds; false where the node does not tell. */
    isFinal: (block: bigint) =>
      Effect.match(retried(ask(blockAt("finalized"))), {
        onSuccess: (final) => final.number >= block,
        onFailure: () => false,
      }),
    receiptOf: (transaction: string, asset: string) =>
      answered(receiptOf(inLowerCase(transaction), inLowerCase(asset))),
    isUsed: (asset: string, from: string, nonce: string) =>
      answered(
        ask(isUsed({ asset: inLowerCase(asset), from: inLowerCase(from), nonce: inLowerCase(nonce) }, "latest")),
      ),
  }
})

export type Node = Effect.Success<ReturnType<typeof nodeAt>>
