/** A node and a scan whose answers about one authorization a test writes. */
import { Duration, Effect, Option } from "effect"
import { type Hex, numberToHex, pad } from "viem"
import { alreadyUsed, type Log, type TokenLog } from "../../src/payments/x402/chain/Eip3009.ts"
import * as Evidence from "../../src/payments/x402/chain/Evidence.ts"
import type { Conclusion, Search } from "../../src/payments/x402/chain/Evidence.ts"
import type { Block, EvidenceNode, TransactionReceipt } from "../../src/payments/x402/chain/Rpc.ts"
import type { ScannedTransfer } from "../../src/payments/x402/chain/TransferRows.ts"
import { address, authorization, logsOf, word } from "./TransferLogs.ts"

const { canceled: canceling, moved, used } = logsOf()
/** Logs that pay the authorization, and logs that use it for another recipient. */
export const transfer = [used, moved]
export const elsewhere = [used, logsOf({ to: address("9") }).moved]

export const named = word("1")
export const discovered = word("2")
/** Block 7 is final, 9 is not. */
export const blockAt = (number: bigint, timestamp = 1_000n): Block => ({
  number,
  hash: pad(numberToHex(number)),
  timestamp,
})
export const receipt = (logs: ReadonlyArray<Log>, change: Partial<TransactionReceipt> = {}): TransactionReceipt => ({
  block: { number: 7n, hash: blockAt(7n).hash },
  succeeded: true,
  logs,
  ...change,
})

/** A log of the transaction that was found, in block 7 unless another is given. */
const logAt = (log: Log, index: number, block = blockAt(7n)): TokenLog => ({
  ...log,
  transaction: discovered,
  block: block.number,
  blockHash: block.hash,
  index,
})
export const useAt = (block = blockAt(7n)) => logAt(used, 4, block)
export const cancelAt = (block = blockAt(7n)) => logAt(canceling, 4, block)

/** A row of the scan, provisional in block 9 or final in block 7. */
export const rowIn = (isFinal: boolean, change: Partial<ScannedTransfer> = {}): ScannedTransfer => ({
  recipient: authorization.to,
  amount: authorization.value,
  transaction: discovered,
  block: isFinal ? blockAt(7n) : blockAt(9n),
  isFinal,
  ...change,
})

/** A search for the authorization's end that waits for nothing. */
export const look: Search = {
  authorization,
  fromBlock: 3n,
  transaction: Option.some(named),
  patience: Duration.zero,
}

export const open = (unused: boolean): Conclusion => ({ _tag: "Open", unused })
export const paid = (transaction: Hex, block = blockAt(7n)): Conclusion => ({
  _tag: "Paid",
  transaction,
  block: { number: block.number, hash: block.hash },
})
export const spent: Conclusion = { _tag: "Void", reason: "authorization_spent_elsewhere", transaction: discovered }

/** The answers of a node and of the scan; an omitted one has its initial value. */
export interface Answers {
  readonly newest?: Block
  readonly final?: Block
  readonly receipts?: Readonly<Record<Hex, TransactionReceipt>>
  readonly used?: boolean
  readonly revert?: string
  /** Logs that end it. */
  readonly ends?: ReadonlyArray<TokenLog>
  /** The hash of the block that has the number of a receipt or row now. */
  readonly there?: Hex
  /** The hash that the node which says so has at the number of the final block. */
  readonly again?: Hex
  readonly row?: ScannedTransfer
  /** The row once the scan has read past the expiry. */
  readonly rowThen?: ScannedTransfer
  readonly hasReadPast?: boolean
}

/** Used, the log found, and further answers. */
export const usedAnd = (answers: Answers): Answers => ({
  used: true,
  revert: alreadyUsed,
  ends: [useAt()],
  ...answers,
})

export const foundIs = (receipt: TransactionReceipt) => ({ receipts: { [discovered]: receipt } })

const scripted = (answers: Answers): EvidenceNode<"no answer"> => {
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
    stateAt: () => Effect.succeed({ used: answers.used ?? false, revert: Option.fromNullishOr(answers.revert) }),
    endsOf: () => Effect.succeed(answers.ends ?? []),
  }
}

/** The evidence of a node with these answers, beside a scan with these rows, and the unmatched payments it records. */
export const evidenceOf = (answers: Answers, change: Partial<EvidenceNode<"no answer">> = {}) => {
  let row = answers.row
  const { hasReadPast = true, rowThen = row } = answers
  const recorded: Array<object> = []
  const inquiries = Evidence.make(
    { ...scripted(answers), ...change },
    {
      find: () => Effect.sync(() => Option.fromUndefinedOr(row)),
      hasReadPast: () =>
        Effect.sync(() => {
          row = rowThen
          return hasReadPast
        }),
      recordUnmatched: (_, payment) => Effect.sync(() => void recorded.push(payment)),
    },
  )
  return { ...inquiries, recorded }
}
