/** The one place where all layers meet: the services, the routes, and the socket they are served on. */
// Before any schema: decoders and encoders are compiled to JavaScript when they are first used.
import "effect/schema/SchemaJITCompiler/enable"
import { fileURLToPath } from "node:url"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import type { SqlClient } from "effect/sql"
import { ByteSize, Duration, Effect, Layer } from "effect"
import { HttpClient, HttpIncomingMessage, HttpRouter } from "effect/http"
import { type HttpApi, HttpApiBuilder, type HttpApiGroup, OpenApi } from "effect/http-api"
import { Api, apiAt } from "../../schema/Api.ts"
import * as AgentsHttp from "../agents/Http.ts"
import { Acts, actServices, paidActs } from "../altar/Acts.ts"
import * as Artwork from "../altar/Artwork.ts"
import { CandleWall } from "../altar/candles/CandleWall.ts"
import { Catalogs } from "../altar/collectibles/Catalogs.ts"
import { FieldGuide } from "../altar/guide/FieldGuide.ts"
import { handlers as altarHandlers } from "../altar/Http.ts"
import { Items } from "../altar/collectibles/Items.ts"
import { PublicationChain } from "../altar/collectibles/PublicationChain.ts"
import { Reveals } from "../altar/Reveals.ts"
import { WitnessChain } from "../altar/witness/WitnessChain.ts"
import * as HealthHttp from "./HealthHttp.ts"
import type { PaidActs } from "../payments/PaidAct.ts"
import { AppConfig, type PaymentsConfig, type ServerConfig } from "./config/Config.ts"
import * as Fallbacks from "../http/Fallbacks.ts"
import { notNow } from "../http/NotNow.ts"
import { KnownRequests } from "../platform/http/KnownRequests.ts"
import * as Files from "../platform/http/Files.ts"
import * as Listener from "../platform/http/Listener.ts"
import { written } from "../platform/http/Written.ts"
import * as Requests from "../altar/Requests.ts"
import * as LogHttp from "./LogHttp.ts"
import * as LogFiles from "../log/Http.ts"
import * as Log from "../log/Log.ts"
import { Availability } from "../payments/Availability.ts"
import { Broadcasts } from "../payments/ledger/Broadcasts.ts"
import { Refusals } from "../payments/ledger/Refusals.ts"
import { CardProcessor } from "../payments/card/CardProcessor.ts"
import { CardRail } from "../payments/card/CardRail.ts"
import { Chain } from "../payments/x402/Chain.ts"
import { Finality } from "../payments/Finality.ts"
import * as Facilitator from "../payments/x402/Facilitator.ts"
import { PaidHttp } from "../payments/PaidHttp.ts"
import * as LatePayments from "../payments/LatePayments.ts"
import * as Ledger from "../payments/ledger/Ledger.ts"
import { PaymentCredentials } from "../payments/PaymentCredentials.ts"
import { PaymentPipeline } from "../payments/PaymentPipeline.ts"
import { PaymentTerms } from "../payments/PaymentTerms.ts"
import { PayerBalances } from "../payments/x402/PayerBalances.ts"
import { Reconciler } from "../payments/Reconciler.ts"
import { NodeWatch } from "../payments/x402/NodeWatch.ts"
import { TokenWatch } from "../payments/x402/TokenWatch.ts"
import * as Relayer from "../payments/x402/Relayer.ts"
import { groupMost } from "../payments/Settlement.ts"
import { Signatures } from "../payments/x402/Signatures.ts"
import * as Unconfigured from "../payments/Unconfigured.ts"
import { UsedAuthorizations } from "../payments/x402/UsedAuthorizations.ts"
import * as RouteNames from "../telemetry/RouteNames.ts"
import * as Telemetry from "../telemetry/Telemetry.ts"
import { Verifier } from "../payments/x402/Verifier.ts"
import { Operator } from "../platform/Operator.ts"
import { PublicUrl } from "../platform/PublicUrl.ts"
import { ClientAddress } from "../limits/ClientAddress.ts"
import * as Loose from "../limits/Loose.ts"
import * as PostgresLimiter from "../limits/PostgresLimiter.ts"
import * as RoomHttp from "../room/Http.ts"
import * as RoomRequests from "../room/Requests.ts"
import { RoomStore } from "../room/RoomStore.ts"
import * as DatabaseWatch from "../platform/DatabaseWatch.ts"
import { DatabaseClock } from "../platform/DatabaseClock.ts"
import * as Migrator from "../platform/Migrator.ts"
import * as Sql from "../platform/Sql.ts"
import * as Site from "../pages/Site.ts"

/** Bytes of a body at most; a reveal of 4096 escaped code points fits. */
const bodyLimit = ByteSize.kibibytes(64)

/** The card processor is no part of ours: it is told of no trace, and followed to no other address. */
const cardHttp = Layer.effect(
  HttpClient.HttpClient,
  Effect.map(
    HttpClient.HttpClient,
    HttpClient.transformResponse(Effect.provideService(HttpClient.TracerPropagationEnabled, false)),
  ),
).pipe(Layer.provide(NodeHttpClient.layerUndici))

const settlementLayer = ({ patience, settlement, terms }: PaymentsConfig) =>
  settlement._tag === "Relayer"
    ? Relayer.layer({
        privateKey: settlement.privateKey,
        previousKey: settlement.previousKey,
        timeout: patience,
        stuckAfter: Duration.times(patience, 3),
        groupMost: settlement.groupMost ?? groupMost,
      }).pipe(Layer.provide(Layer.merge(Broadcasts.layer, Refusals.layer)))
    : Facilitator.layer({ ...settlement, terms, timeout: patience })

const isMissing = (payments: ServerConfig["payments"]): payments is ReadonlyArray<string> => Array.isArray(payments)

const cardLayer = ({ cards, patience }: PaymentsConfig) =>
  cards === undefined
    ? Layer.merge(CardRail.off, CardProcessor.off)
    : Layer.merge(CardRail.layer(cards), CardProcessor.layer({ ...cards, timeout: patience })).pipe(
        Layer.provide(cardHttp),
      )

/** Verification, settlement and evidence, from the configuration alone. */
const moneyLayer = (payments: PaymentsConfig) => {
  const { finalTag, rpcUrl, settlement } = payments
  const sender = settlement._tag === "Relayer" ? Relayer.addressOf(settlement.privateKey) : undefined
  const chain = Chain.layer({ rpcUrl, finalTag, sender, timeout: Duration.seconds(10) })
  const { lookEvery, patience, sweepEvery } = payments
  const reconciler = Reconciler.layer({ patience, sweepEvery, lookEvery })
  return Layer.mergeAll(
    Verifier.layer({ walletFactories: payments.walletFactories }).pipe(Layer.provide(Signatures.layer)),
    UsedAuthorizations.layer,
    reconciler,
    Finality.layer({ sweepEvery: payments.sweepEvery, patience: payments.patience }),
    LatePayments.layer(payments.sweepEvery),
    NodeWatch.layer(sender),
    TokenWatch.layer(payments.terms),
  ).pipe(
    Layer.provideMerge(Layer.merge(settlementLayer(payments), PayerBalances.layer({ paysGas: sender !== undefined }))),
    Layer.provide(chain),
    Layer.provideMerge(cardLayer(payments)),
  )
}

/** All services of the altar over a migrated database. */
export const services = (config: ServerConfig, house: House = altar) => {
  const { payments } = config
  const lease = isMissing(payments) ? Duration.minutes(1) : Duration.times(payments.patience, 3)
  const money = PaidHttp.layer.pipe(
    Layer.provide(
      PaymentPipeline.layer({ lease, grace: Listener.grace }).pipe(Layer.provide(PaymentCredentials.layer)),
    ),
    Layer.provideMerge(Availability.layer),
    Layer.provideMerge(
      isMissing(payments) ? Layer.mergeAll(Unconfigured.layer, NodeWatch.none, TokenWatch.none) : moneyLayer(payments),
    ),
    Layer.provideMerge(Ledger.layer),
  )
  const chains = Layer.mergeAll(WitnessChain.layer, PublicationChain.layer, Reveals.layer)
  const reads = Layer.mergeAll(Acts.layer, FieldGuide.layer, CandleWall.layer)
  const terms = isMissing(payments)
    ? PaymentTerms.notConfigured(payments)
    : PaymentTerms.ready(payments.terms, payments.cards === undefined ? ["x402"] : ["x402", "card"])
  const limits = Layer.merge(Loose.layer.pipe(Layer.provide(PostgresLimiter.layer())), ClientAddress.layer(config))
  const rooms = RoomStore.layer(config.rooms).pipe(Layer.provideMerge(limits))
  const log = Layer.unwrap(Effect.map(config.makeLog ?? Effect.succeed(config.log), Log.layer))
  return Layer.mergeAll(money, Catalogs.layer, reads, rooms, log).pipe(
    Layer.provideMerge(house.acts),
    Layer.provideMerge(actServices),
    Layer.provideMerge(chains),
    Layer.provideMerge(Layer.merge(Items.layer, terms)),
    Layer.provideMerge(PublicUrl.layer(config.publicUrl)),
    Layer.provideMerge(Operator.layer(config.operator ?? Operator.unnamed)),
    Layer.provideMerge(Layer.merge(DatabaseClock.layer, DatabaseWatch.layer(config.databaseUrl))),
    Layer.provide(Migrator.layer),
    Layer.provide(Sql.layer(config.databaseUrl)),
    Layer.provide(Layer.effectDiscard(Sql.reached(config.databaseUrl))),
  )
}

/** What is served and sold: another contract brings its own routes and acts, over the same services. */
export interface House {
  readonly routes: typeof altar.routes
  /** How metrics and log call the routes; by the altar's own templates, unless it is given. */
  readonly routeName?: RouteNames.RouteName
  readonly fallbacks: typeof altar.fallbacks
  /** Made of the altar's services, or of the database alone. */
  readonly acts: Layer.Layer<PaidActs, never, Layer.Services<typeof paidActs> | PublicUrl | SqlClient.SqlClient>
}

/** The routes of a contract, whose handlers are still to be given, its document, and the page to browse that. */
export const routesOf = <Groups extends HttpApiGroup.Constraint>(contract: HttpApi.HttpApi<"spirit-altar", Groups>) =>
  Layer.merge(
    Layer.unwrap(
      Effect.map(PublicUrl, (publicUrl) => {
        const published = apiAt(contract, publicUrl)
        const document = written(JSON.stringify(OpenApi.fromApi(published)))
        return Layer.merge(
          HttpApiBuilder.layer(published),
          HttpRouter.add("GET", "/openapi.json", (request) => document.respond(request)),
        )
      }),
    ),
    Site.docs(contract),
  )

/** The handlers of the altar's contract. */
export const handlers = Layer.mergeAll(...altarHandlers, LogHttp.handlers, RoomHttp.handlers, HealthHttp.handlers)

const altar = {
  routes: routesOf(Api).pipe(Layer.provide(handlers)),
  fallbacks: Fallbacks.layer(Api),
  acts: paidActs,
}

const artwork = Files.layer({
  root: fileURLToPath(Artwork.folder),
  prefix: Artwork.prefix,
  cacheControl: "public, max-age=86400",
})

const all = ({ fallbacks, routes }: House) =>
  Layer.mergeAll(
    routes.pipe(Layer.provide([Requests.layer, RoomRequests.layer])),
    artwork.pipe(Layer.provide(Site.compressed)),
    Site.layer,
    AgentsHttp.layer,
    LogFiles.layer,
  ).pipe(Layer.provide(fallbacks))

/** Only whole, known paths; a parameter may be as long as a header allows. */
const routerConfig = {
  caseSensitive: true,
  ignoreTrailingSlash: false,
  ignoreDuplicateSlashes: false,
  maxParamLength: 500,
} as const

/** The server, listening, with the address it is bound to; further routes may be given, such as the sandbox's. */
export const layer = <E, R>(extra: Layer.Layer<never, E, R>, house: House = altar) =>
  Layer.unwrap(
    Effect.map(AppConfig, (config) =>
      Listener.drained.pipe(
        Layer.provide(
          HttpRouter.serve(Layer.mergeAll(all(house), extra).pipe(Layer.provide(Layer.fresh(KnownRequests.layer))), {
            routerConfig,
            disableLogger: true,
            disableListenLog: true,
          }),
        ),
        Layer.merge(Telemetry.metrics),
        Layer.provide(services(config, house)),
        Layer.provideMerge(Listener.layer(config, notNow)),
        Layer.provide(Telemetry.requests(house.routeName ?? RouteNames.make(Api))),
        Layer.provide(Layer.succeed(HttpIncomingMessage.MaxBodySize, bodyLimit)),
      ),
    ),
  )
