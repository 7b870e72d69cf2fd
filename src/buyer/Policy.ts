/** What may be signed is decided before anything is: any other price, payee, asset, network or resource is refused. */
import { type Challenge, priceUsd } from "../../schema/payments/Payment.ts"
import type { Sale } from "../../schema/payments/Sale.ts"
import { refuse, type Refused } from "./Ends.ts"

/** All amounts are atomic USDC (6 decimals): `10_000n` is one cent. */
export interface Policy {
  /** No single payment above this; an act is paid at exactly its listed price in any case. */
  readonly maxPerPayment?: bigint
  /** No more than this signed for in one UTC day with this journal; ten dollars when absent. */
  readonly maxPerDay?: bigint
  /** CAIP-2 network, asset and recipient a challenge must name. What is absent the altar says of itself on first use. */
  readonly network?: string
  readonly asset?: string
  readonly payTo?: string
}

export interface Terms {
  readonly network: string
  readonly asset: string
  readonly payTo: string
}

export const defaultMaxPerDay = 10_000_000n

/** Addresses are equal by value, not by spelling. */
const same = (one: string, other: string) => one.toLowerCase() === other.toLowerCase()

/** `$0.01`; whatever is no whole cent in atomic units. */
const money = (atomic: bigint) => (atomic % 10_000n === 0n ? priceUsd(atomic) : `${atomic} atomic USDC`)

export interface Asked {
  readonly challenge: Challenge
  readonly key: string
  /** The URL the request was sent to. */
  readonly url: string
  readonly price: Sale
  readonly terms: Terms
  readonly policy: Policy
  /** Signed for today under other keys. */
  readonly spentToday: bigint
}

/** Why this must not be signed; undefined when it is what was expected. */
export const objection = ({ challenge, key, policy, price, spentToday, terms, url }: Asked): Refused | undefined => {
  const no = (code: string, why: string) => refuse(code, `${why} Nothing was signed, so nothing was charged.`, key)
  const [offer] = challenge.accepts
  const amount = BigInt(offer.amount)
  if (challenge.resource.url !== url)
    return no("foreign_resource", `The altar asks for a payment for ${challenge.resource.url}, not for ${url}.`)
  if (amount > price.priceAtomic)
    return no(
      "too_dear",
      `The altar asks for ${money(amount)}, but ${price.name} is listed at ${money(price.priceAtomic)}.`,
    )
  if (amount < price.priceAtomic)
    return no(
      "too_cheap",
      `The altar asks for ${money(amount)} only, but ${price.name} is listed at ${money(price.priceAtomic)}: no other amount buys it.`,
    )
  if (policy.maxPerPayment !== undefined && amount > policy.maxPerPayment)
    return no(
      "above_limit",
      `${price.name} costs ${money(amount)}, above your limit of ${money(policy.maxPerPayment)} a payment.`,
    )
  if (offer.network !== terms.network)
    return no("other_network", `The altar asks for a payment on ${offer.network}; expected is ${terms.network}.`)
  if (!same(offer.asset, terms.asset))
    return no("other_asset", `The altar asks for the asset ${offer.asset}; expected is ${terms.asset}.`)
  if (!same(offer.payTo, terms.payTo))
    return no(
      "other_payee",
      `The altar asks for a payment to ${offer.payTo}; expected is ${terms.payTo}. Name the payee yourself if the new one is right.`,
    )
  const limit = policy.maxPerDay ?? defaultMaxPerDay
  if (spentToday + amount > limit)
    return no(
      "above_day_limit",
      `With ${money(spentToday)} already signed for today, ${money(amount)} more is above your limit of ${money(limit)} a day.`,
    )
  return undefined
}
