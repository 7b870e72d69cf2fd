/** Decides what may be signed: any other price, payee, asset, network or resource is refused before signing. */
import { Schema } from "effect"
import type { Sale } from "../../schema/payments/Sale.ts"
import { centAtomic, priceUsd, secondsMaximum, usdcOn } from "../../schema/payments/Usdc.ts"
import type { Challenge } from "./core/Challenge.ts"
import { type Mismatch, mismatchOf } from "./core/Expectation.ts"
import type { Exchange } from "./core/Loop.ts"
import { refuse, type Refused } from "./PurchaseError.ts"

/** All amounts are atomic USDC: `10_000n` is one cent. */
export interface Policy {
  /** Maximum of a single payment; an act is paid at exactly its listed price in any case. */
  readonly maxPerPayment?: bigint
  /** Maximum signed for in one UTC day with this journal; ten dollars when absent. */
  readonly maxPerDay?: bigint
  /** CAIP-2 network and recipient that a challenge must name; an absent one is taken from the altar at first use. */
  readonly network?: string
  readonly payTo?: string
}

/** The asset is the network's USDC. */
export interface Terms {
  readonly network: string
  readonly payTo: string
}

export const defaultMaxPerDay = 1_000n * centAtomic

/** `$0.01`, or atomic units where the amount is no whole cent. */
const money = (atomic: bigint) => (atomic % centAtomic === 0n ? priceUsd(atomic) : `${atomic} atomic USDC`)

export interface Asked {
  readonly challenge: Challenge
  readonly key: string
  readonly url: string
  readonly price: Sale
  readonly terms: Terms
  readonly policy: Policy
  /** Signed for today under other keys, in atomic USDC. */
  readonly spentToday: bigint
}

const explain = ({ asked, kind }: Mismatch, { price: { name, priceAtomic }, terms, url }: Asked) => {
  const listed = `${money(priceAtomic)}, at which ${name} is listed`
  const [code, what, expected] = (
    {
      resource: ["foreign_resource", "resource", url],
      more: ["too_dear", "price", listed],
      less: ["too_cheap", "price", listed],
      scheme: ["other_scheme", "payment scheme", "exact"],
      network: ["other_network", "network", terms.network],
      asset: ["other_asset", "asset", usdcOn(terms.network)],
      payee: ["other_payee", "payee", `${terms.payTo}. Name the payee yourself if the new one is right`],
      lifetime: ["other_lifetime", "lifetime in seconds", `1 to ${secondsMaximum}`],
    } as const
  )[kind]
  const named = what === "price" ? money(BigInt(asked)) : asked
  return [code, `The altar names the ${what} ${named}; expected is ${expected}.`] as const
}

/** The reason not to sign; undefined when the challenge is as expected. */
export const objection = (asked: Asked): Refused | undefined => {
  const { challenge, key, policy, price, spentToday, terms, url } = asked
  const no = (code: string, why: string) => refuse(code, `${why} Nothing was signed, so nothing was charged.`, key)
  const mismatch = mismatchOf(challenge, {
    ...terms,
    amountAtomic: price.priceAtomic,
    isResource: (resource) => resource === url,
  })
  if (mismatch !== undefined) return no(...explain(mismatch, asked))
  const amount = BigInt(challenge.accepts[0].amount)
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

const Manifest = Schema.Struct({ payment: Schema.Struct({ network: Schema.String, payTo: Schema.String }) })

const unsigned = (code: string, why: string) => refuse(code, `${why} Nothing was signed, so nothing was charged.`)

const announced = async (altar: string, exchange: Exchange): Promise<Terms> => {
  const init = { redirect: "error", signal: AbortSignal.timeout(60_000) } as const
  const manifest: unknown = await exchange(`${altar}/.well-known/agent.json`, init)
    .then((response) => response.json())
    .catch(() => {
      throw unsigned("unreachable", `${altar} does not answer.`)
    })
  if (Schema.is(Manifest)(manifest)) return manifest.payment
  throw unsigned("no_terms", `${altar} does not say how it is paid. Name network and payTo yourself.`)
}

/** The terms that the buyer named; the others are those of its earlier purchases, or else what the altar announces. */
export const expected = async (
  altar: string,
  { network, payTo }: Policy,
  kept: Terms | undefined,
  exchange: Exchange,
): Promise<Terms> => {
  const isNamed = network !== undefined && payTo !== undefined
  const known = isNamed ? { network, payTo } : (kept ?? (await announced(altar, exchange)))
  const terms = { network: network ?? known.network, payTo: payTo ?? known.payTo }
  if (usdcOn(terms.network) !== undefined) return terms
  throw unsigned("unknown_network", `The altar wants to be paid on ${terms.network}, where no USDC is known here.`)
}
