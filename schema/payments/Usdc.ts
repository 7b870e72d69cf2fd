/** Circle's USDC on the networks an altar is paid on: the one place where its addresses stand. */

/** CAIP-2 ids of the networks an altar is paid on. */
export const base = "eip155:8453"
export const baseSepolia = "eip155:84532"
export const usdcNetworks = [base, baseSepolia] as const

/** Its address, and the name and version that its EIP-712 domain is made of; they differ between the two. */
export const usdc = {
  [base]: {
    asset: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
    assetName: "USD Coin",
    assetVersion: "2",
    explorer: "https://basescan.org/tx/{tx}",
  },
  [baseSepolia]: {
    asset: "0x036CbD53842c5426634e7929541eC2318f3dCF7e",
    assetName: "USDC",
    assetVersion: "2",
    explorer: "https://sepolia.basescan.org/tx/{tx}",
  },
} as const

export type UsdcNetwork = keyof typeof usdc

const isKnown = (network: string): network is UsdcNetwork => Object.hasOwn(usdc, network)

/** Its address on a CAIP-2 network; undefined where none is known. */
export const usdcOn = (network: string): `0x${string}` | undefined =>
  isKnown(network) ? usdc[network].asset : undefined

/** Atomic USDC of one US cent. */
export const centAtomic = 10_000n

/** US cents of an amount in atomic USDC; what is sold for cards costs whole cents. */
export const centsOf = (amountAtomic: bigint): bigint => amountAtomic / centAtomic

/** Dollars with two decimals of an atomic amount, `$0.01` for `10000n`. */
export const priceUsd = (amountAtomic: bigint): string => {
  const cents = centsOf(amountAtomic)
  return `$${cents / 100n}.${String(cents % 100n).padStart(2, "0")}`
}

/** A day: no wait and no life of an authorization is set longer, in seconds. */
export const secondsMaximum = 86_400

/** Multicall3 stands at this address on every chain an altar is paid on. */
export const multicall3 = "0xcA11bde05977b3631167028862bE2a173976CA11"
