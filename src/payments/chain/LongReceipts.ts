/** Caches the relevant logs of long receipts, whose length the sender of the transaction chooses. */
import { Predicate } from "effect"
import type { Hex } from "viem"
import type { Address } from "../../../schema/Common.ts"
import { BoundedMap } from "../../platform/BoundedMap.ts"
import { inLowerCase } from "../Hex.ts"
import { endingLogs } from "./Eip3009.ts"
import type { FoundLog, Receipt } from "./Evidence.ts"

/** Maximum number of cached logs. The oldest receipts are evicted. */
const logsKept = 20_000

/** A receipt reduced to the logs that end authorizations. `isFinal` means that its block was final at the read. */
export interface CachedReceipt extends Receipt {
  readonly isFinal: boolean
}

const nameOf = (transaction: Hex, blockHash: Hex) => inLowerCase(`${transaction}${blockHash.slice(2)}`)

export const make = () => {
  const kept = new BoundedMap<string, CachedReceipt>(logsKept)
  return {
    find: ({ blockHash, transaction }: FoundLog) => kept.get(nameOf(transaction, blockHash)),
    note: (transaction: Hex, receipt: Receipt, isFinal: boolean): void => {
      if (receipt.isLong !== true) return
      const logs = endingLogs(receipt.logs)
      kept.set(nameOf(transaction, receipt.block.hash), { ...receipt, logs, isFinal }, 1 + logs.length)
    },
  }
}

/** Characters of logs from which a receipt counts as long, and the overhead per log. */
const longLogs = 262_144
const aroundData = 400

interface OwnLogs {
  readonly asset: Address
  /** The node's answer without logs of other contracts, which are never read and whose number third parties choose. */
  readonly answer: unknown
  readonly isLong: boolean
}

const textIn = (log: unknown, name: string) => {
  const text = Predicate.hasProperty(log, name) ? log[name] : ""
  return typeof text === "string" ? text : ""
}

/** Filtered answers by the original, which concurrent callers share. */
const sifted = new WeakMap<object, OwnLogs>()

/** The receipt without logs of contracts other than this asset. */
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
