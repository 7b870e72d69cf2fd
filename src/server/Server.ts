/** Assembles the server: all services, routes and the socket. */
// Comes before any schema, since decoders and encoders are compiled when they are first used.
import "effect/schema/SchemaJITCompiler/enable"
import { ByteSize, Effect, Layer } from "effect"
import { HttpIncomingMessage, HttpMiddleware, HttpRouter } from "effect/http"
import { Api } from "../../schema/Api.ts"
import * as Altar from "../altar/Altar.ts"
import { grantsOf } from "./CrossOrigin.ts"
import * as Middleware from "./Middleware.ts"
import { UrlCache } from "../http/UrlCache.ts"
import { canonicalUrl } from "./ErrorFormats.ts"
import { notNow } from "./NotNow.ts"
import { ClientAddress } from "../limits/ClientAddress.ts"
import { RateLimiter } from "../limits/RateLimiter.ts"
import * as Log from "../log/Log.ts"
import * as Payments from "../payments/Payments.ts"
import { ReceiptKeys } from "../payments/Receipt.ts"
import * as Database from "../platform/Database.ts"
import * as Listener from "../http/Listener.ts"
import { Operator } from "../platform/Operator.ts"
import { PublicUrl } from "../platform/PublicUrl.ts"
import { RoomStore } from "../room/RoomStore.ts"
import * as RouteNames from "../telemetry/RouteNames.ts"
import * as Telemetry from "../telemetry/Telemetry.ts"
import { AppConfig, type ServerConfig } from "./config/Config.ts"
import * as Routes from "./Routes.ts"

const altar = { routes: Routes.routesOf(Api).pipe(Layer.provide(Routes.handlers)), middleware: Middleware.layer(Api) }

/** The routes and acts of a server. Another contract brings its own over the same services. */
export interface Site {
  readonly routes: typeof altar.routes
  readonly middleware: typeof altar.middleware
  readonly acts?: Altar.SoldActs
}

export const services = (config: ServerConfig, { acts }: Site = altar) =>
  Layer.mergeAll(
    Payments.layer(config.payments, Listener.grace),
    RoomStore.layer(config.rooms),
    Layer.unwrap(Effect.map(config.makeLog ?? Effect.succeed(config.log), Log.layer)),
  ).pipe(
    Layer.provideMerge(Altar.layer(acts)),
    Layer.provideMerge(Layer.succeed(ReceiptKeys, config.receipts)),
    Layer.provideMerge(Layer.merge(RateLimiter.layer, ClientAddress.layer(config))),
    Layer.provideMerge(Payments.terms(config.payments)),
    Layer.provideMerge(PublicUrl.layer(config.publicUrl)),
    Layer.provideMerge(Operator.layer(config.operator ?? Operator.unnamed)),
    Layer.provideMerge(Database.layer(config.databaseUrl)),
  )

/** Maximum bytes of a body. A reveal of 4096 escaped code points fits. */
const bodyLimit = ByteSize.kibibytes(64)

/** Exact paths only. A parameter may be as long as a header allows. */
const routerConfig = {
  caseSensitive: true,
  ignoreTrailingSlash: false,
  ignoreDuplicateSlashes: false,
  maxParamLength: 500,
} as const

/**
 * For JSON that is sent once. A cached response has its own compressed variants, each with a tag of its bytes. The site
 * compresses its pages and files itself, and better.
 */
const compression = HttpRouter.middleware(
  HttpMiddleware.compression({
    algorithms: ["br", "gzip"],
    compressible: (type) => type.startsWith("application/"),
    levels: { br: 1, gzip: 1 },
  }),
  { global: true },
)

/** A listening server. `extra` adds routes, such as the sandbox's. */
export const layer = <E, R>(extra: Layer.Layer<never, E, R>, house: Site = altar) =>
  Layer.unwrap(
    Effect.map(AppConfig, (config) => {
      const routes = house.routes.pipe(Layer.provide(Routes.requests))
      const all = Layer.mergeAll(routes, Routes.others).pipe(
        Layer.provide(house.middleware),
        // The last layer is built first, and so it is outside of the other, whose answers it compresses.
        Layer.provide(compression),
        Layer.merge(extra),
      )
      const names = RouteNames.make(routerConfig)
      const served = all.pipe(Layer.provide([Layer.fresh(UrlCache.layer), names.recorded]))
      return Listener.drained.pipe(
        Layer.provide(
          HttpRouter.serve(served, {
            routerConfig,
            disableLogger: true,
            disableListenLog: true,
          }),
        ),
        Layer.merge(Telemetry.metrics),
        Layer.provide(services(config, house)),
        Layer.provideMerge(
          Listener.layer(
            { ...config, grants: grantsOf(config.publicUrl) },
            notNow,
            Listener.defaultLimits,
            canonicalUrl,
          ),
        ),
        Layer.provide(Telemetry.requests(names.nameOf)),
        Layer.provide(Layer.succeed(HttpIncomingMessage.MaxBodySize, bodyLimit)),
      )
    }),
  )
