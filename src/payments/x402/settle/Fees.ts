/** The gas and the fees of the relayer's transactions. */
import { Effect } from "effect"
import type { Chain } from "../chain/Chain.ts"
import type { Fee } from "../chain/Questions.ts"

/** The fee for the next blocks, and the base fee of the newest one. */
export interface Market {
  readonly fee: Fee
  readonly base: bigint
}

/** Gas limit of a transfer from a wallet without code, which takes 75,000 to 100,000. */
export const plainGas = 150_000n

/** Maximum gas of a transfer from a wallet with code, which checks its signature itself. */
export const settlementGas = 750_000n

export const emptyGas = 21_000n

const tip = 1_000_000n

/** Three times the base fee of the newest block, which may rise by an eighth per block. */
export const currentFees = ({ newest }: Pick<Chain["Service"], "newest">) =>
  Effect.map(newest, ({ baseFeePerGas }): Market => {
    const base = baseFeePerGas ?? 0n
    return { base, fee: { maxPriorityFeePerGas: tip, maxFeePerGas: base * 3n + tip } }
  })

/** The most that a replacement offers. */
export const highestFee = (now: Fee) => now.maxFeePerGas * 10n

/**
 * A quarter above the offered fee and at least the current one, all as tip. Nodes replace for a tenth more. Undefined
 * above ten times the current fee.
 */
export const raisedFee = (now: Fee, offered: bigint): Fee | undefined => {
  const raised = (offered * 5n) / 4n + 1n
  if (raised > highestFee(now)) return undefined
  const maxFeePerGas = raised > now.maxFeePerGas ? raised : now.maxFeePerGas
  return { maxFeePerGas, maxPriorityFeePerGas: maxFeePerGas }
}
