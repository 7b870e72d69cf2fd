/** The rails of this server, chosen by the tag of a credential or of a stored payment. */
import { Context, Effect, Layer, Option } from "effect"
import type { Headers } from "effect/http"
import type { SoldAct } from "./Act.ts"
import * as Card from "./card/Facts.ts"
import { type RailName, railNames } from "./Payment.ts"
import type { Credential, Rail, RailFacts } from "./Rail.ts"
import * as X402 from "./x402/Facts.ts"

type ByName = { readonly [R in RailName]: Rail<R> }

/** Any rail: its members that take neither a credential nor a payment. */
export type AnyRail = ByName[RailName]

/** A rail that is not in use sells nothing, and leaves stored attempts as they are. */
const resting = <R extends RailName>(facts: RailFacts<R>): Rail<R> => ({
  ...facts,
  sells: () => false,
  obstacle: { toOffer: Effect.undefined, toClaim: Effect.undefined },
  funds: Effect.succeed("ok"),
  // `verify` queries no node here, so the guard has no query to count.
  costs: "purchase",
  hasPaid: () => Effect.succeed(false),
  verify: () => Effect.fail(facts.notHere),
  reverify: () => Effect.fail(facts.notHere),
  submit: () => Effect.undefined,
  resubmit: () => Effect.succeedNone,
  evidence: (_, payment) => Effect.succeed({ finding: { is: "nothing" }, reference: Option.none(), payment }),
})

const serviceOf = (configured: Partial<ByName>): Rails["Service"] => {
  const all: ByName = { x402: configured.x402 ?? resting(X402.facts), card: configured.card ?? resting(Card.facts) }
  const inUse = railNames.map((name): AnyRail | undefined => configured[name]).filter((rail) => rail !== undefined)
  return {
    inUse,
    selling: (act) => inUse.filter((rail) => rail.sells(act)),
    of: (name) => all[name],
    credentialsIn: (headers) =>
      railNames
        .map((name): Credential | undefined => all[name].credentialIn(headers))
        .filter((credential) => credential !== undefined),
  }
}

export class Rails extends Context.Service<
  Rails,
  {
    /** Those in use; empty while settings are missing. */
    readonly inUse: ReadonlyArray<AnyRail>
    /** Those in use that sell an act. */
    readonly selling: (act: SoldAct) => ReadonlyArray<AnyRail>
    /** The rail of a credential or a stored payment. One that is not in use rests: its evidence is `nothing`. */
    readonly of: <R extends RailName>(name: R) => Rail<R>
    /** All payments that a request presents, also by rails that are not in use. */
    readonly credentialsIn: (headers: Headers.Headers) => ReadonlyArray<Credential>
  }
>()("spirit-altar/payments/Rails") {
  static readonly layer = <E, R>(rails: Effect.Effect<Partial<ByName>, E, R>) =>
    Layer.effect(
      Rails,
      Effect.map(rails, (configured) => Rails.of(serviceOf(configured))),
    )
}
