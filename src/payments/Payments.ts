/** The payment layers of an altar: verification, settlement and evidence on chain, cards, and the pipeline for both. */
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
import { CardProcessor, type CardProcessorConfig } from "./card/Processor.ts"
import { CardRail, type CardRailConfig } from "./card/Rail.ts"
import { Broadcasts } from "./x402/settle/Broadcasts.ts"
import { PaidHttp } from "./Http.ts"
import { Challenges } from "./Challenge.ts"
import { Purchases } from "./Purchase.ts"
import { PaymentCredentials } from "./PaymentCredentials.ts"
import { PaymentPipeline } from "./Pipeline.ts"
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

export type CardConfig = CardRailConfig & Omit<CardProcessorConfig, "timeout">

/** A third party gets no trace context, and its redirects are not followed. */
const cardClient = Layer.effect(
  HttpClient.HttpClient,
  Effect.map(
    HttpClient.HttpClient,
    HttpClient.transformResponse(Effect.provideService(HttpClient.TracerPropagationEnabled, false)),
  ),
).pipe(Layer.provide(NodeHttpClient.layerUndici))

const cardLayer = (config: CardConfig, timeout: Duration.Duration) =>
  Layer.merge(CardRail.layer(config), CardProcessor.layer({ ...config, timeout })).pipe(Layer.provide(cardClient))

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

/** Sweeps for each scan of the chain. */
const scanSweeps = 4

const rails = (payments: PaymentsConfig) => {
  const { cards, patience, rpcUrl, settlement, sweepEvery, terms } = payments
  const life = Number(longestLife(terms))
  const sender = settlement._tag === "Relayer" ? Relayer.addressOf(settlement.privateKey) : undefined
  return Layer.mergeAll(
    PaymentVerifier.layer.pipe(Layer.provide(Signatures.layer)),
    Sweeps.layer({ sweepEvery, longestLife: life }).pipe(
      Layer.provideMerge(
        Reconciler.layer({ network: terms.network, patience, sweepEvery, inquiryInterval: payments.inquiryInterval }),
      ),
    ),
    NodeWatch.layer(sender),
    TokenWatch.layer(terms),
  ).pipe(
    Layer.provideMerge(Evidence.layer),
    Layer.provide(
      Transfers.layer({ terms, longestLife: life, everyMillis: scanSweeps * Duration.toMillis(sweepEvery) }),
    ),
    Layer.provideMerge(settlementLayer(payments).pipe(Layer.provide(Broadcasts.layer))),
    Layer.provideMerge(Chain.layer({ rpcUrl, sender, timeout: Duration.seconds(10) })),
    Layer.provideMerge(cards === undefined ? Layer.empty : cardLayer(cards, patience)),
  )
}

export const terms = (payments: Configured) =>
  isMissing(payments)
    ? PaymentTerms.notConfigured(payments)
    : PaymentTerms.ready(payments.terms, payments.cards === undefined ? ["x402"] : ["x402", "card"])

/** Everything that a sale needs beyond the database. `grace` limits how long a stopping server waits for purchases in flight. */
const sales = (payments: PaymentsConfig, grace: Duration.Duration) =>
  Purchases.layer({ lease: Duration.times(payments.patience, 3), grace }).pipe(
    Layer.provide(PaymentCredentials.layer),
    Layer.provide(Availability.layer),
    Layer.provideMerge(rails(payments)),
  )

/** All services of a paid request. Nothing is sold while settings are missing. */
export const layer = (payments: Configured, grace: Duration.Duration) =>
  PaidHttp.layer.pipe(
    Layer.provide(PaymentPipeline.layer),
    Layer.provideMerge(Availability.layer),
    Layer.provideMerge(isMissing(payments) ? Layer.empty : sales(payments, grace)),
    Layer.provideMerge(Challenges.layer),
    Layer.provideMerge(ledger),
  )
