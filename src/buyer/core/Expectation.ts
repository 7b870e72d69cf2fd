/** Exactly what was listed is signed: any other amount, scheme, network, asset, payee or resource is refused before. */
import { secondsMaximum } from "../../../schema/payments/Usdc.ts"
import type { Challenge } from "./Challenge.ts"

/** What a challenge has to name, known before it is seen. */
export interface Expectation {
  /** Whether the URL that a payment is bound to is the one that was asked. */
  readonly isResource: (url: string) => boolean
  /** Atomic USDC, exactly. */
  readonly amountAtomic: bigint
  /** CAIP-2. */
  readonly network: string
  readonly asset: string
  /** Any address when absent. */
  readonly payTo?: string
}

export interface Mismatch {
  readonly kind: "resource" | "more" | "less" | "scheme" | "network" | "asset" | "payee" | "lifetime"
  /** What the challenge says. */
  readonly asked: string
}

/** Addresses are equal by value, not by spelling. */
const same = (one: string, other: string) => one.toLowerCase() === other.toLowerCase()

/** Why this must not be signed; undefined when it is what was expected. */
export const mismatchOf = (
  { accepts: [offer], resource }: Challenge,
  { amountAtomic, asset, isResource, network, payTo }: Expectation,
): Mismatch | undefined => {
  const amount = BigInt(offer.amount)
  if (!isResource(resource.url)) return { kind: "resource", asked: resource.url }
  if (amount !== amountAtomic) return { kind: amount > amountAtomic ? "more" : "less", asked: offer.amount }
  if (offer.scheme !== "exact") return { kind: "scheme", asked: offer.scheme }
  if (offer.network !== network) return { kind: "network", asked: offer.network }
  if (!same(offer.asset, asset)) return { kind: "asset", asked: offer.asset }
  if (payTo === undefined ? !/^0x[0-9a-fA-F]{40}$/u.test(offer.payTo) : !same(offer.payTo, payTo))
    return { kind: "payee", asked: offer.payTo }
  return offer.maxTimeoutSeconds < 1 || offer.maxTimeoutSeconds > secondsMaximum
    ? { kind: "lifetime", asked: String(offer.maxTimeoutSeconds) }
    : undefined
}
