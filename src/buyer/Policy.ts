/** Decides what may be signed: any other price, payee, asset, network or resource is refused before signing. */
import { Effect, Option, Schema } from "effect"
import type { Sale } from "../../schema/payments/Sale.ts"
import { centAtomic, priceUsd, secondsMaximum, usdcOn } from "../../schema/payments/Usdc.ts"
import type { Challenge } from "./core/Challenge.ts"
import { type Mismatch, mismatchOf } from "./core/Expectation.ts"
import { refuse, type Refused } from "./PurchaseError.ts"

/** All amounts are atomic USDC: `10_000n` is one cent. */
export interface Policy {
  /** Maximum of a single payment; an act is paid at exactly its listed price in any case. */
  readonly maxPerPayment?: bigint
  /** Maximum signed for in one UTC day with this journal; ten dollars when absent. */
  readonly maxPerDay?: bigint
  /**
   * CAIP-2 network, asset and recipient that a challenge must name. An absent network or recipient is taken from the
   * altar at first use; an absent asset is the network's USDC.
   */
  readonly network?: string
  readonly asset?: string
  readonly payTo?: string
}

export interface Terms {
  readonly network: string
  readonly asset: string
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
      asset: ["other_asset", "asset", terms.asset],
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

const Manifest = Schema.Struct({
  payment: Schema.Struct({ network: Schema.String, asset: Schema.String, payTo: Schema.String }),
})

const announced = (altar: string, send: typeof fetch) =>
  Effect.tryPromise((signal) =>
    send(`${altar}/.well-known/agent.json`, { redirect: "error", signal }).then((response) => response.json()),
  ).pipe(
    Effect.timeout("1 minute"),
    Effect.mapError(() =>
      refuse("unreachable", `${altar} does not answer. Nothing was signed, so nothing was charged.`),
    ),
    Effect.flatMap(Schema.decodeUnknownEffect(Manifest)),
    Effect.map(({ payment }): Terms => payment),
    Effect.catchTag("SchemaError", () =>
      refuse(
        "no_terms",
        `${altar} does not say how it is paid. Name network, asset and payTo yourself. Nothing was signed, so nothing was charged.`,
      ),
    ),
  )

/** An asset that is no known USDC is accepted only if the buyer named it. */
export const expected = Effect.fn("Policy.expected")(function* (
  altar: string,
  policy: Policy,
  kept: Option.Option<Terms>,
  send: typeof fetch,
) {
  const { asset, network, payTo } = policy
  if (network !== undefined && payTo !== undefined) {
    return { network, payTo, asset: asset ?? usdcOn(network) ?? "" } satisfies Terms
  }
  const known = Option.isSome(kept) ? kept.value : yield* announced(altar, send)
  const terms: Terms = {
    network: network ?? known.network,
    payTo: payTo ?? known.payTo,
    asset: asset ?? usdcOn(network ?? known.network) ?? "",
  }
  return terms.asset === ""
    ? yield* refuse(
        "unknown_network",
        `The altar wants to be paid on ${terms.network}, where no USDC is known here. Nothing was signed, so nothing was charged.`,
      )
    : terms
})
