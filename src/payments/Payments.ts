/** The payment layers of an altar: the ledger, the rails in use, and the purchase over both. */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as Facilitator from "./x402/settle/Facilitator.ts"
import * as Relayer from "./x402/settle/Relayer.ts"
import * as Sweeps from "./Sweeps.ts"
import { Duration, Effect, Layer, type Option, type Redacted } from "effect"
import { HttpClient } from "effect/http"
import { Availability, Selling } from "./Availability.ts"
import { Claim } from "./store/Claim.ts"
import { Due } from "./store/Due.ts"
import { Fail } from "./store/Fail.ts"
import { Lookup } from "./store/Lookup.ts"
import { Refunds } from "./store/Refunds.ts"
import { Settle } from "./store/Settle.ts"
import { UnmatchedPayments } from "./store/Unmatched.ts"
import { Answers } from "./Answers.ts"
import * as Card from "./card/Rail.ts"
import type { ChallengeConfig } from "./card/Challenge.ts"
import type { CardProcessorConfig } from "./card/Processor.ts"
import { Broadcasts } from "./x402/settle/Broadcasts.ts"
import { PaymentOffers } from "./Offers.ts"
import { Purchases } from "./Purchase.ts"
import { Rails } from "./Rails.ts"
import * as X402 from "./x402/Rail.ts"
import { PaymentTerms, type Terms } from "./PaymentTerms.ts"
import { Reconciler } from "./Reconciler.ts"
import { type Limits, relayerLimits, type Settlement } from "./x402/settle/Settlement.ts"
import { Chain } from "./x402/chain/Chain.ts"
import type { FacilitatorKey } from "./x402/settle/Facilitator.ts"
import { NodeWatch, TokenWatch } from "./x402/chain/NodeWatch.ts"
import { Signatures } from "./x402/verify/Signature.ts"
import { Evidence } from "./x402/chain/Evidence.ts"
import { Transfers } from "./x402/chain/Transfers.ts"
import { longestLife } from "./x402/verify/Offer.ts"
import { PaymentVerifier } from "./x402/verify/PaymentVerifier.ts"

/** The store of paid attempts: claimed once, ended once, answered with the same bytes for ever. */
export const ledger = Layer.mergeAll(
  Claim.layer,
  Selling.layer,
  Settle.layer,
  Fail.layer,
  Due.layer,
  Refunds.layer,
).pipe(Layer.provideMerge(Layer.merge(Lookup.layer, UnmatchedPayments.layer)))

export type SettlementConfig =
  | {
      readonly _tag: "Relayer"
      readonly privateKey: Redacted.Redacted<`0x${string}`>
      /** The limits of transactions in flight; the relayer's defaults if absent. */
      readonly limits?: Partial<Limits>
    }
  | { readonly _tag: "Facilitator"; readonly url: string; readonly key: Option.Option<FacilitatorKey> }

export type CardConfig = ChallengeConfig & Omit<CardProcessorConfig, "timeout">

/** A third party gets no trace context, and its redirects are not followed. */
const cardClient = Layer.effect(
  HttpClient.HttpClient,
  Effect.map(
    HttpClient.HttpClient,
    HttpClient.transformResponse(Effect.provideService(HttpClient.TracerPropagationEnabled, false)),
  ),
).pipe(Layer.provide(NodeHttpClient.layerUndici))

export interface PaymentsConfig {
  readonly terms: Terms
  readonly rpcUrl: Redacted.Redacted<string>
  readonly settlement: SettlementConfig
  readonly cards?: CardConfig | undefined
  /** How long a settlement call and the wait for its receipt may each take. */
  readonly patience: Duration.Duration
  readonly sweepEvery: Duration.Duration
  /** Minimum time between two inquiries about an attempt that clients cause; 2 s if absent. */
  readonly inquiryInterval?: Duration.Duration | undefined
}

export type Configured = PaymentsConfig | ReadonlyArray<string>

const isMissing = (payments: Configured): payments is ReadonlyArray<string> => Array.isArray(payments)

const settlementLayer = ({
  patience,
  settlement,
  terms,
}: PaymentsConfig): Layer.Layer<Settlement, never, Chain | Broadcasts | Lookup> =>
  settlement._tag === "Relayer"
    ? Relayer.layer({
        privateKey: settlement.privateKey,
        timeout: patience,
        stuckAfter: Duration.times(patience, 3),
        ...relayerLimits,
        ...settlement.limits,
      })
    : Facilitator.layer({ ...settlement, terms, timeout: patience })

const lifeOf = (terms: Terms) => Number(longestLife(terms))

/** A scan of the chain is due after this many sweeps. */
const scanSweeps = 4

/** The needs of a payment on the chain: verification, settlement, the scan, and evidence from it. */
const chain = (payments: PaymentsConfig) => {
  const { rpcUrl, settlement, sweepEvery, terms } = payments
  const sender = settlement._tag === "Relayer" ? Relayer.addressOf(settlement.privateKey) : undefined
  const everyMillis = scanSweeps * Duration.toMillis(sweepEvery)
  return Layer.mergeAll(
    PaymentVerifier.layer.pipe(Layer.provide(Signatures.layer)),
    NodeWatch.layer(sender),
    TokenWatch.layer(terms),
    Evidence.layer,
  ).pipe(
    Layer.provideMerge(Transfers.layer({ terms, longestLife: lifeOf(terms), everyMillis })),
    Layer.provideMerge(settlementLayer(payments).pipe(Layer.provide(Broadcasts.layer))),
    Layer.provideMerge(Chain.layer({ rpcUrl, sender, timeout: Duration.seconds(10) })),
  )
}

const railsInUse = Effect.fnUntraced(function* (payments: PaymentsConfig) {
  const { cards, patience: timeout } = payments
  const x402 = yield* X402.make(payments)
  return cards === undefined ? { x402 } : { x402, card: yield* Card.make({ ...cards, timeout }) }
})

/** The rails of a server, the reconciler over them, and the sweeps that ask it. */
const selling = (payments: PaymentsConfig) =>
  Sweeps.layer({
    sweepEvery: payments.sweepEvery,
    longestLife: lifeOf(payments.terms),
    network: payments.terms.network,
  }).pipe(
    Layer.provideMerge(Reconciler.layer(payments)),
    Layer.provideMerge(Rails.layer(railsInUse(payments)).pipe(Layer.provide(cardClient))),
    Layer.provideMerge(chain(payments)),
  )

/** Without settings there is no rail, so nothing is sold and stored attempts stay as they are. */
const notSelling = Reconciler.layer({ sweepEvery: Duration.zero }).pipe(
  Layer.provideMerge(Layer.merge(Rails.layer(Effect.succeed({})), NodeWatch.absent)),
)

export const terms = (payments: Configured) =>
  isMissing(payments)
    ? PaymentTerms.notConfigured(payments)
    : PaymentTerms.ready(payments.terms, payments.cards === undefined ? ["x402"] : ["x402", "card"])

/** All services of a paid request. `grace` limits how long a stopping server waits for purchases in flight. */
export const layer = (payments: Configured, grace: Duration.Duration) => {
  const lease = isMissing(payments) ? Duration.zero : Duration.times(payments.patience, 3)
  return Purchases.layer({ lease, grace }).pipe(
    Layer.provide(Answers.layer),
    Layer.provide(PaymentOffers.layer),
    Layer.provideMerge(Availability.layer),
    Layer.provideMerge(isMissing(payments) ? notSelling : selling(payments)),
    Layer.provideMerge(ledger),
  )
}
