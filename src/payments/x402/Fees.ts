/** What a block is paid for a settlement, in wei for a unit of gas. */
import { Effect } from "effect"
import { hexToBigInt } from "viem"
import type { RelayerNode } from "./RelayerNode.ts"

export interface Fee {
  readonly maxFeePerGas: bigint
  readonly maxPriorityFeePerGas: bigint
}

/** Gas of one settlement at most: a plain transfer takes 75,000, a wallet deployed by it several times that. */
export const settlementGas = 750_000n

const tip = 1_000_000n

/** Three times the base fee of the newest block: it may rise by an eighth with each block. */
export const current = (node: RelayerNode) =>
  Effect.map(
    node.call((client) => client.request({ method: "eth_getBlockByNumber", params: ["latest", false] })),
    (block): Fee => ({
      maxPriorityFeePerGas: tip,
      maxFeePerGas: hexToBigInt(block?.baseFeePerGas ?? "0x0") * 3n + tip,
    }),
  )

/** A quarter above what was offered, and no less than what is asked now, all of it as a tip: nodes replace for a tenth more. */
export const above = (now: Fee, offered: bigint): Fee => {
  const raised = (offered * 5n) / 4n + 1n
  const maxFeePerGas = raised > now.maxFeePerGas ? raised : now.maxFeePerGas
  return { maxFeePerGas, maxPriorityFeePerGas: maxFeePerGas }
}
