/** What is noted of each request: its id, its duration by route, and a line of the log. The one place where it is done. */
import { randomUUID } from "node:crypto"
import type { IncomingMessage, ServerResponse } from "node:http"
import { Effect, Layer, type LogLevel, Metric } from "effect"
import { Observer, requestIdHeader } from "../platform/http/Observer.ts"
import { clientOf } from "./Clients.ts"
import { Lines } from "./Lines.ts"
import type { RouteName } from "./RouteNames.ts"

/** Seconds; the boundaries of the OpenTelemetry conventions, and two below them for reads that are kept bytes. */
const boundaries = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10]

const durations = Metric.histogram("http.server.request.duration", {
  description: "Duration of requests, until the last byte of the answer was handed over, by route.",
  attributes: { unit: "s" },
  boundaries,
})

const active = Metric.gauge("http.server.active_requests", {
  description: "Requests that were begun and are not answered yet.",
})

const methods = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
const isRead = (method: string) => method === "GET" || method === "HEAD" || method === "OPTIONS"

/** What a client that hung up was answered. */
const hungUp = 499

/** The question for a price is a read, whatever its method. */
const isPriceAsked = (status: number, { headers }: IncomingMessage) =>
  status === 402 && headers["payment-signature"] === undefined && headers["authorization"] === undefined

const levelOf = (status: number): LogLevel.LogLevel => (status >= 500 ? (status === 503 ? "Warn" : "Error") : "Info")

export const layer = (nameOf: RouteName) =>
  Layer.effect(
    Observer,
    Effect.gen(function* () {
      const context = yield* Effect.context<never>()
      const lines = yield* Lines
      const series = new Map<string, typeof durations>()
      let open = 0
      let reads = 0

      const seriesOf = (method: string, route: string, status: number) => {
        const key = `${method} ${route} ${status}`
        const known = series.get(key)
        if (known !== undefined) return known
        const made = Metric.withAttributes(durations, {
          "http.request.method": method,
          "http.route": route,
          "http.response.status_code": String(status),
        })
        series.set(key, made)
        return made
      }

      const ended = (request: IncomingMessage, response: ServerResponse, id: string, began: number) => {
        const millis = performance.now() - began
        const status = response.writableFinished ? response.statusCode : hungUp
        const asked = request.method ?? ""
        const method = methods.has(asked) ? asked : "_OTHER"
        const route = nameOf(request.url ?? "/")
        open -= 1
        active.updateUnsafe(open, context)
        seriesOf(method, route, status).updateUnsafe(millis / 1000, context)
        const isGoodRead = (isRead(method) && status < 400) || isPriceAsked(status, request)
        if (isGoodRead) reads = (reads + 1) % lines.readsPerLine
        const level = isGoodRead && reads !== 0 ? "Debug" : levelOf(status)
        if (!lines.shows(level)) return
        lines.say(level, "request", {
          request: id,
          method,
          route,
          status,
          ms: Math.round(millis * 100) / 100,
          client: clientOf(request.headers["user-agent"]),
        })
      }

      return (request: IncomingMessage, response: ServerResponse) => {
        const id = randomUUID()
        const began = performance.now()
        request.headers[requestIdHeader] = id
        response.setHeader(requestIdHeader, id)
        open += 1
        active.updateUnsafe(open, context)
        response.once("close", () => ended(request, response, id, began))
      }
    }),
  )
