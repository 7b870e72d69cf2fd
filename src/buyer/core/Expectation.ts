/** Compares a challenge with the expected terms: amount, scheme, network, asset, payee and resource. */
import { secondsMaximum, usdcOn } from "../../../schema/payments/Usdc.ts"
import type { Challenge } from "./Challenge.ts"

/** The terms that a challenge must name, known before it arrives. */
export interface Expectation {
  /** Whether the URL that a payment is bound to is the one that was requested. */
  readonly isResource: (url: string) => boolean
  /** Atomic USDC, exactly. */
  readonly amountAtomic: bigint
  /** CAIP-2; the asset is its USDC. */
  readonly network: string
  /** Any address when absent. */
  readonly payTo?: string
}

export interface Mismatch {
  readonly kind: "resource" | "more" | "less" | "scheme" | "network" | "asset" | "payee" | "lifetime"
  /** The differing part in words. */
  readonly what: string
  /** The value in the challenge. */
  readonly offered: string
}

/** Addresses and hashes are equal by value, not by spelling. */
export const same = (value: unknown, other: string) =>
  typeof value === "string" && value.toLowerCase() === other.toLowerCase()

/** The first mismatch; undefined when the challenge is as expected. */
export const mismatchOf = (
  { accepts: [offer], resource }: Challenge,
  { amountAtomic, isResource, network, payTo }: Expectation,
): Mismatch | undefined => {
  const amount = BigInt(offer.amount)
  if (!isResource(resource.url)) return { kind: "resource", what: "address", offered: resource.url }
  if (amount !== amountAtomic)
    return { kind: amount > amountAtomic ? "more" : "less", what: "price", offered: offer.amount }
  if (offer.scheme !== "exact") return { kind: "scheme", what: "payment scheme", offered: offer.scheme }
  if (offer.network !== network) return { kind: "network", what: "network", offered: offer.network }
  if (!same(offer.asset, usdcOn(network) ?? "")) return { kind: "asset", what: "token", offered: offer.asset }
  if (!/^0x[0-9a-fA-F]{40}$/u.test(offer.payTo) || !same(offer.payTo, payTo ?? offer.payTo))
    return { kind: "payee", what: "payee", offered: offer.payTo }
  return offer.maxTimeoutSeconds < 1 || offer.maxTimeoutSeconds > secondsMaximum
    ? { kind: "lifetime", what: "lifetime of the payment", offered: String(offer.maxTimeoutSeconds) }
    : undefined
}
