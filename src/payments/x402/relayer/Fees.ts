/** Fees and gas limits of settlement transactions, in wei per unit of gas. */
import { Effect } from "effect"
import { hexToBigInt } from "viem"
import type { RelayerNode } from "./RelayerNode.ts"

export interface Fee {
  readonly maxFeePerGas: bigint
  readonly maxPriorityFeePerGas: bigint
}

/** The fee for the next blocks and the gas limit of a block. */
export interface Market {
  readonly fee: Fee
  readonly blockGas: bigint
}

/** Maximum gas of one settlement. A plain transfer takes 75,000, one that deploys its wallet several times that. */
export const settlementGas = 750_000n

/** Maximum gas of one plain transfer in a group, where it takes 40,000 to 60,000. */
export const memberGas = 100_000n

/** The gas limit of any transaction (EIP-7825), and the share of a block that a group may take. */
const transactionGas = 16_777_216n
const blockShare = 4n

/** Gas limit of a group, and the lower one of its rehearsal. The margin covers changes until its block. */
export const groupGas = (members: number) => BigInt(members) * memberGas
export const rehearsedGas = (members: number) => (groupGas(members) * 10n) / 13n

/**
 * Whether a group that used this much gas may have left none for some of its members. A member that runs out takes
 * nearly all the rest, and refunds return little of it. So a group with a quarter left never ran out.
 */
export const mayHaveRunOut = (gasUsed: bigint, members: number) => gasUsed * 4n > groupGas(members) * 3n

/** Maximum number of transfers in a group for this block gas limit. */
export const roomIn = (blockGas: bigint) => {
  const share = blockGas / blockShare
  return Number((share < transactionGas ? share : transactionGas) / memberGas)
}

/** Maximum number of transfers in a group that the relayer's balance in wei covers. */
export const paidBy = (balance: bigint, { maxFeePerGas }: Fee) => Number(balance / (maxFeePerGas * memberGas))

const tip = 1_000_000n

/** Three times the base fee of the newest block, which may rise by an eighth per block. */
export const current = (node: RelayerNode) =>
  Effect.map(node.newest, ({ baseFeePerGas = "0x0", gasLimit = "0x0" }): Market => ({
    fee: { maxPriorityFeePerGas: tip, maxFeePerGas: hexToBigInt(baseFeePerGas) * 3n + tip },
    blockGas: hexToBigInt(gasLimit),
  }))

/** A quarter above the offered fee and at least the current one, all as tip. Nodes replace for a tenth more. */
export const above = (now: Fee, offered: bigint): Fee => {
  const raised = (offered * 5n) / 4n + 1n
  const maxFeePerGas = raised > now.maxFeePerGas ? raised : now.maxFeePerGas
  return { maxFeePerGas, maxPriorityFeePerGas: maxFeePerGas }
}
