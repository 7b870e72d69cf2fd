/** Circle's USDC on the networks an altar is paid on. */

/** CAIP-2 ids. */
export const base = "eip155:8453"
export const baseSepolia = "eip155:84532"
export const usdcNetworks = [base, baseSepolia] as const

const baseAsset = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"
const baseSepoliaAsset = "0x036CbD53842c5426634e7929541eC2318f3dCF7e"

/**
 * The token's address, and the name and version of its EIP-712 domain, which differ between the networks. Marked as
 * pure, so that pages load only the parts they use.
 */
export const usdc = /* @__PURE__ */ (() =>
  ({
    [base]: {
      asset: baseAsset,
      assetName: "USD Coin",
      assetVersion: "2",
      explorer: "https://basescan.org/tx/{tx}",
    },
    [baseSepolia]: {
      asset: baseSepoliaAsset,
      assetName: "USDC",
      assetVersion: "2",
      explorer: "https://sepolia.basescan.org/tx/{tx}",
    },
  }) as const)()

export type UsdcNetwork = keyof typeof usdc

/** The name of a CAIP-2 network, for people; the id itself where none is known. */
export const networkName = (network: string): string =>
  network === base ? "Base" : network === baseSepolia ? "Base Sepolia, a test network" : network

/** The token's address on a CAIP-2 network; undefined where none is known. */
export const usdcOn = (network: string): `0x${string}` | undefined =>
  network === base ? baseAsset : network === baseSepolia ? baseSepoliaAsset : undefined

export const centAtomic = 10_000n

/** US cents of atomic USDC; acts that cards can pay for cost whole cents. */
export const centsOf = (amountAtomic: bigint): bigint => amountAtomic / centAtomic

/** Dollars with two decimals: `$0.01` for `10000n`. */
export const priceUsd = (amountAtomic: bigint): string => {
  const cents = centsOf(amountAtomic).toString().padStart(3, "0")
  return `$${cents.slice(0, -2)}.${cents.slice(-2)}`
}

/** A price for people: `one cent`, or in figures. */
export const priceWords = (amountAtomic: bigint): string =>
  amountAtomic === centAtomic ? "one cent" : priceUsd(amountAtomic)

/** A day in seconds: the maximum lifetime of an authorization. */
export const secondsMaximum = 86_400
