/** What long receipts say of authorizations. Who ends one chooses how long its receipt is, so such a receipt is read seldom. */
import type { Hex } from "viem"
import { inLowerCase } from "../../Hex.ts"
import { endingLogs, type Log } from "../verification/Eip3009.ts"
import type { FoundLog, Receipt } from "./Evidence.ts"

/** Logs that are kept of all of them together; the oldest receipts make room. */
const logsKept = 20_000

/** A receipt with the logs alone that end authorizations; `isFinal` where it was read after its block was final. */
export interface KeptReceipt extends Receipt {
  readonly isFinal: boolean
}

const nameOf = (transaction: Hex, blockHash: Hex) => inLowerCase(`${transaction}${blockHash.slice(2)}`)
const weightOf = (logs: ReadonlyArray<Log>) => 1 + logs.length

export const make = () => {
  const kept = new Map<string, KeptReceipt>()
  let weight = 0

  const drop = (name: string) => {
    const known = kept.get(name)
    if (known === undefined) return
    weight -= weightOf(known.logs)
    kept.delete(name)
  }

  return {
    /** The receipt of a log's transaction in that very block. */
    find: ({ blockHash, transaction }: FoundLog) => kept.get(nameOf(transaction, blockHash)),
    /** Keeps it if it is long. */
    note: (transaction: Hex, receipt: Receipt, isFinal: boolean): void => {
      if (receipt.isLong !== true) return
      const name = nameOf(transaction, receipt.block.hash)
      const logs = endingLogs(receipt.logs)
      drop(name)
      kept.set(name, { ...receipt, logs, isFinal })
      weight += weightOf(logs)
      for (const oldest of kept.keys()) {
        if (weight <= logsKept) return
        drop(oldest)
      }
    },
  }
}
