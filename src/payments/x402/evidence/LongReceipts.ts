/** What long receipts say of authorizations. Who ends one chooses how long its receipt is, so such a receipt is read seldom. */
import { Predicate } from "effect"
import type { Hex } from "viem"
import type { Address } from "../../../../schema/Common.ts"
import { BoundedMap } from "../../../platform/BoundedMap.ts"
import { inLowerCase } from "../../Hex.ts"
import { endingLogs } from "../verification/Eip3009.ts"
import type { FoundLog, Receipt } from "./Evidence.ts"

/** Logs that are kept of all of them together; the oldest receipts make room. */
const logsKept = 20_000

/** A receipt with the logs alone that end authorizations; `isFinal` where it was read after its block was final. */
export interface KeptReceipt extends Receipt {
  readonly isFinal: boolean
}

const nameOf = (transaction: Hex, blockHash: Hex) => inLowerCase(`${transaction}${blockHash.slice(2)}`)

export const make = () => {
  const kept = new BoundedMap<string, KeptReceipt>(logsKept)
  return {
    find: ({ blockHash, transaction }: FoundLog) => kept.get(nameOf(transaction, blockHash)),
    note: (transaction: Hex, receipt: Receipt, isFinal: boolean): void => {
      if (receipt.isLong !== true) return
      const logs = endingLogs(receipt.logs)
      kept.set(nameOf(transaction, receipt.block.hash), { ...receipt, logs, isFinal }, 1 + logs.length)
    },
  }
}

/** Characters of logs, as a node writes them, from which on a receipt is long; and those around the data of each. */
const longLogs = 262_144
const aroundData = 400

interface OwnLogs {
  readonly asset: Address
  /** The node's answer without the logs of other contracts: their number is for strangers to choose, and none is read. */
  readonly answer: unknown
  readonly isLong: boolean
}

const textIn = (log: unknown, name: string) => {
  const text = Predicate.hasProperty(log, name) ? log[name] : ""
  return typeof text === "string" ? text : ""
}

/** Who asked together has one answer, which is sifted once for all of them. */
const sifted = new WeakMap<object, OwnLogs>()

/** The answer to a question for a receipt, without the logs of all contracts but this one. */
export const ownLogs =
  (asset: Address) =>
  (answer: unknown): OwnLogs => {
    if (!Predicate.hasProperty(answer, "logs") || !Array.isArray(answer.logs)) return { asset, answer, isLong: false }
    const known = sifted.get(answer)
    if (known?.asset === asset) return known
    const all: ReadonlyArray<unknown> = answer.logs
    const address = inLowerCase(asset)
    const logs = all.filter((log) => inLowerCase(textIn(log, "address")) === address)
    const length = all.reduce<number>((sum, log) => sum + aroundData + textIn(log, "data").length, 0)
    const own: OwnLogs = { asset, answer: { ...answer, logs }, isLong: length > longLogs }
    sifted.set(answer, own)
    return own
  }
