/** A node that answers by script whatever it is asked of an authorization, and what follows from that. */
import { Duration, Effect, Option } from "effect"
import { type Hex, numberToHex, pad } from "viem"
import type * as Evidence from "../../src/payments/chain/Evidence.ts"
import { alreadyUsed, type Log } from "../../src/payments/chain/Eip3009.ts"
import { authorization, logsOf, word } from "./TransferLogs.ts"

const { moved, used } = logsOf()
/** Logs that pay the authorization, and logs that use it otherwise. */
export const transfer = [used, moved]
export const elsewhere = [used, logsOf({ value: 1n }).moved]

export const named = word("1")
export const found = word("2")
/** Block 7 is final, 9 is not. */
export const blockAt = (number: bigint, timestamp = 1_000n): Evidence.Block => ({
  number,
  hash: pad(numberToHex(number)),
  timestamp,
})
export const receipt = (logs: ReadonlyArray<Log>, change: Partial<Evidence.Receipt> = {}): Evidence.Receipt => ({
  block: { number: 7n, hash: blockAt(7n).hash },
  succeeded: true,
  logs,
  ...change,
})

/** The answers of a node; an omitted one has its initial value. */
export interface Answers {
  readonly newest?: Evidence.Block
  readonly final?: Evidence.Block
  readonly receipts?: Readonly<Record<Hex, Evidence.Receipt>>
  readonly used?: boolean
  readonly revert?: string
  /** The same at the final block; null where the node does not keep its state. */
  readonly revertAtFinal?: string | null | undefined
  readonly logs?: ReadonlyArray<Evidence.FoundLog>
  /** The hash of the block that has a receipt's number now. */
  readonly there?: Hex
  /** The hash that the node which says so has at the number of the final block. */
  readonly again?: Hex
}

export const scripted = (answers: Answers): Evidence.Node<"no answer"> => {
  const { final = blockAt(8n), newest = blockAt(10n) } = answers
  return {
    heads: Effect.succeed({ newest, final }),
    finalAnd: (number) =>
      Effect.succeed({
        final,
        there: { ...blockAt(number), hash: answers.there ?? blockAt(number).hash },
        again: { ...final, hash: answers.again ?? final.hash },
      }),
    receiptOf: (transaction) => Effect.succeed(Option.fromNullishOr(answers.receipts?.[transaction])),
    stateAt: (_, { hash }) => {
      const revert = hash === final.hash && "revertAtFinal" in answers ? answers.revertAtFinal : answers.revert
      return revert === null
        ? Effect.fail("no answer" as const)
        : Effect.succeed({ used: answers.used ?? false, revert: Option.fromNullishOr(revert) })
    },
    logsOf: () => Effect.succeed(answers.logs ?? []),
  }
}

export const look: Evidence.Search = {
  authorization,
  fromBlock: 3n,
  transaction: Option.some(named),
  patience: Duration.zero,
}

export const open = (unused: boolean, reverts = false): Evidence.Evidence => ({ _tag: "Open", unused, reverts })
export const nothing = open(false)
export const paid = (transaction: Hex): Evidence.Evidence => ({
  _tag: "Paid",
  transaction,
  block: { number: 7n, hash: blockAt(7n).hash },
})

/** Used, the log found, and whatever else is said. */
export const usedAnd = (answers: Answers): Answers => ({
  used: true,
  revert: alreadyUsed,
  logs: [{ transaction: found, blockHash: blockAt(7n).hash }],
  ...answers,
})
