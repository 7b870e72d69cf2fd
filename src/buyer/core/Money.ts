/** Amounts as people read them. */

/** `$0.01` of atomic USDC (6 decimals). */
export const dollars = (atomic: string | bigint): string => `$${(Number(atomic) / 1_000_000).toFixed(2)}`
