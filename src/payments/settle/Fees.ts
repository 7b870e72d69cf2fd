/** Fees and gas limits of the relayer's transactions, in wei per unit of gas. */
import { Effect } from "effect"
import { hexToBigInt } from "viem"
import type { RelayerNode } from "./RelayerNode.ts"

export interface Fee {
  readonly maxFeePerGas: bigint
  readonly maxPriorityFeePerGas: bigint
}

/** The fee for the next blocks, and the base fee of the newest one. */
export interface Market {
  readonly fee: Fee
  readonly base: bigint
}

/** Gas limit of a transfer from a wallet without code, which takes 75,000 to 100,000. */
export const plainGas = 150_000n

/** Maximum gas of a transfer from a wallet with code, which checks its signature itself. */
export const settlementGas = 750_000n

/** The gas of an empty transaction. */
export const emptyGas = 21_000n

const tip = 1_000_000n

/** Three times the base fee of the newest block, which may rise by an eighth per block. */
export const current = (node: RelayerNode) =>
  Effect.map(node.newest, ({ baseFeePerGas = "0x0" }): Market => {
    const base = hexToBigInt(baseFeePerGas)
    return { base, fee: { maxPriorityFeePerGas: tip, maxFeePerGas: base * 3n + tip } }
  })

/** The most that a replacement offers. */
export const most = (now: Fee) => now.maxFeePerGas * 10n

/**
 * A quarter above the offered fee and at least the current one, all as tip. Nodes replace for a tenth more. Undefined
 * above ten times the current fee.
 */
export const above = (now: Fee, offered: bigint): Fee | undefined => {
  const raised = (offered * 5n) / 4n + 1n
  if (raised > most(now)) return undefined
  const maxFeePerGas = raised > now.maxFeePerGas ? raised : now.maxFeePerGas
  return { maxFeePerGas, maxPriorityFeePerGas: maxFeePerGas }
}
