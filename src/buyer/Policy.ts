/** Decides what may be signed: any other price, payee, asset, network or resource is refused before signing. */
import { centAtomic, priceUsd, secondsMaximum, usdcOn } from "../../schema/payments/Usdc.ts"
import type { Price } from "./Acts.ts"
import type { Challenge } from "./core/Challenge.ts"
import { type Mismatch, mismatchOf } from "./core/Expectation.ts"
import type { SpendingTerms } from "./core/Purchase.ts"
import type { Policy } from "./Library.ts"
import { refuse, type Refused } from "./PurchaseError.ts"

export const defaultMaxPerDay = 1_000n * centAtomic

/** `$0.01`, or atomic units where the amount is no whole cent. */
const money = (atomic: bigint) => (atomic % centAtomic === 0n ? priceUsd(atomic) : `${atomic} atomic USDC`)

export interface Proposal {
  readonly challenge: Challenge
  readonly key: string
  readonly url: string
  readonly price: Price
  readonly policy: Policy
  /** The terms of earlier payments to this altar. */
  readonly earlier: SpendingTerms | undefined
  /** Signed for today under other keys, in atomic USDC. */
  readonly spentToday: bigint
}

const explain = ({ kind, offered, what }: Mismatch, { price, url }: Proposal, terms: SpendingTerms) => {
  const listed = `${money(price.priceAtomic)}, at which ${price.name} is listed`
  const [code, expected] = (
    {
      resource: ["foreign_resource", url],
      more: ["too_dear", listed],
      less: ["too_cheap", listed],
      scheme: ["other_scheme", "exact"],
      network: ["other_network", terms.network],
      asset: ["other_asset", usdcOn(terms.network)],
      payee: ["other_payee", `${terms.payTo}. Name the payee yourself if the new one is right`],
      lifetime: ["other_lifetime", `1 to ${secondsMaximum} seconds`],
    } as const
  )[kind]
  const named = what === "price" ? money(BigInt(offered)) : offered
  return [code, `The altar names the ${what} ${named}; expected is ${expected}.`] as const
}

/** The reason not to sign; undefined when the challenge is as expected. */
export const objection = (proposal: Proposal): Refused | undefined => {
  const { challenge, key, earlier, policy, price, spentToday, url } = proposal
  const [offer] = challenge.accepts
  const terms = {
    network: policy.network ?? earlier?.network ?? offer.network,
    payTo: policy.payTo ?? earlier?.payTo ?? offer.payTo,
  }
  const no = (code: string, why: string) => refuse(code, `${why} Nothing was signed, so nothing was charged.`, key)
  if (usdcOn(terms.network) === undefined)
    return no("unknown_network", `No USDC is known on ${terms.network}, the network of this payment.`)
  const mismatch = mismatchOf(challenge, {
    ...terms,
    amountAtomic: price.priceAtomic,
    isResource: (resource) => resource === url,
  })
  if (mismatch !== undefined) return no(...explain(mismatch, proposal, terms))
  const amount = BigInt(offer.amount)
  if (policy.maxPerPayment !== undefined && amount > policy.maxPerPayment)
    return no(
      "above_limit",
      `${price.name} costs ${money(amount)}, above your limit of ${money(policy.maxPerPayment)} a payment.`,
    )
  const limit = policy.maxPerDay ?? defaultMaxPerDay
  if (spentToday + amount > limit)
    return no(
      "above_day_limit",
      `With ${money(spentToday)} already signed for today, ${money(amount)} more is above your limit of ${money(limit)} a day.`,
    )
  return undefined
}
