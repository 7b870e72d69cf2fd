/** The telemetry of each request: its duration by route, and a line of the log. No other code records requests. */
import type { IncomingMessage, ServerResponse } from "node:http"
import { Clock, Effect, Layer, type LogLevel, Metric } from "effect"
import { Observer, requestIdOf } from "../http/Exchange.ts"
import { seriesOf } from "../platform/Series.ts"
import { LogLines } from "./LogLines.ts"
import type { RouteName } from "./RouteNames.ts"

/** Seconds: the boundaries of the OpenTelemetry conventions, and two below them for cached responses. */
const boundaries = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10]

const durations = seriesOf(
  Metric.histogram("http.server.request.duration", {
    description: "Duration of requests until the last byte of the response, by route.",
    attributes: { unit: "s" },
    boundaries,
  }),
)

const active = Metric.gauge("http.server.active_requests", {
  description: "Requests in progress.",
})

const methods = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
const isRead = (method: string) => method === "GET" || method === "HEAD" || method === "OPTIONS"

/** The status recorded when a client disconnected early. */
const hungUp = 499

/** A request for the price counts as a read, whatever its method. */
const isPriceAsked = (status: number, { headers }: IncomingMessage) =>
  status === 402 && headers["payment-signature"] === undefined && headers["authorization"] === undefined

/** One of this many successful reads is logged at `Info`, all at `Debug`. */
const readsPerLine = 100

const levelOf = (status: number): LogLevel.LogLevel => (status >= 500 ? (status === 503 ? "Warn" : "Error") : "Info")

export const layer = (nameOf: RouteName) =>
  Layer.effect(
    Observer,
    Effect.gen(function* () {
      const context = yield* Effect.context<never>()
      const lines = yield* LogLines
      const clock = yield* Clock.Clock
      let open = 0
      let reads = 0
      // Read on demand instead of written with each request.
      Metric.registerUnsafe(active, context, {
        get: () => ({ value: open }),
        update: () => {},
        modify: () => {},
      })

      const ended = (request: IncomingMessage, response: ServerResponse, began: number) => {
        const millis = performance.now() - began
        const status = response.writableFinished ? response.statusCode : hungUp
        const sent = request.method ?? ""
        const method = methods.has(sent) ? sent : "_OTHER"
        const route = nameOf(request.url ?? "/")
        open -= 1
        durations({
          "http.request.method": method,
          "http.route": route,
          "http.response.status_code": String(status),
        }).updateUnsafe(millis / 1000, context)
        const isGoodRead = (isRead(method) && status < 400) || isPriceAsked(status, request)
        if (isGoodRead) reads = (reads + 1) % readsPerLine
        const level = isGoodRead && reads !== 0 ? "Debug" : levelOf(status)
        if (!lines.isEnabled(level)) return
        lines.write(new Date(clock.currentTimeMillisUnsafe()), level, "request", {
          request: requestIdOf(request),
          method,
          route,
          status,
          ms: Math.round(millis * 100) / 100,
        })
      }

      return (request: IncomingMessage, response: ServerResponse) => {
        const began = performance.now()
        open += 1
        response.once("close", () => ended(request, response, began))
      }
    }),
  )
