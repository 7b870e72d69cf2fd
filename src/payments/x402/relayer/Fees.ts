/** What a block is paid for a settlement, in wei for a unit of gas. */
import { Effect } from "effect"
import { hexToBigInt } from "viem"
import type { RelayerNode } from "./RelayerNode.ts"

export interface Fee {
  readonly maxFeePerGas: bigint
  readonly maxPriorityFeePerGas: bigint
}

/** What the newest block asks, and the gas it has room for. */
export interface Market {
  readonly fee: Fee
  readonly blockGas: bigint
}

/** Gas of one settlement at most: a plain transfer takes 75,000, a wallet deployed by it several times that. */
export const settlementGas = 750_000n

/** Gas of one plain transfer in a group at most: it takes 40,000 to 60,000 there. */
export const memberGas = 100_000n

/** Gas of any transaction at most (EIP-7825), and the share of a block that a group asks for. */
const transactionGas = 16_777_216n
const blockShare = 4n

/** What a group of so many may take, and what it has to do with when it is rehearsed: the rest is for what changes until its block. */
export const groupGas = (members: number) => BigInt(members) * memberGas
export const rehearsedGas = (members: number) => (groupGas(members) * 10n) / 13n

/**
 * Whether a group that took so much gas may have left none for some of its members: who runs out of gas takes nearly all
 * that is left, and refunds give little of it back, so a group that has a quarter left never ran out.
 */
export const mayHaveRunOut = (gasUsed: bigint, members: number) => gasUsed * 4n > groupGas(members) * 3n

/** How many transfers a group may have where a block has so much gas. */
export const roomIn = (blockGas: bigint) => {
  const share = blockGas / blockShare
  return Number((share < transactionGas ? share : transactionGas) / memberGas)
}

/** How many transfers a group may have that the relayer's balance, in wei, is asked to cover. */
export const paidBy = (balance: bigint, { maxFeePerGas }: Fee) => Number(balance / (maxFeePerGas * memberGas))

const tip = 1_000_000n

/** Three times the base fee of the newest block: it may rise by an eighth with each block. */
export const current = (node: RelayerNode) =>
  Effect.map(node.newest, ({ baseFeePerGas = "0x0", gasLimit = "0x0" }): Market => ({
    fee: { maxPriorityFeePerGas: tip, maxFeePerGas: hexToBigInt(baseFeePerGas) * 3n + tip },
    blockGas: hexToBigInt(gasLimit),
  }))

/** A quarter above what was offered, and no less than what is asked now, all of it as a tip: nodes replace for a tenth more. */
export const above = (now: Fee, offered: bigint): Fee => {
  const raised = (offered * 5n) / 4n + 1n
  const maxFeePerGas = raised > now.maxFeePerGas ? raised : now.maxFeePerGas
  return { maxFeePerGas, maxPriorityFeePerGas: maxFeePerGas }
}
