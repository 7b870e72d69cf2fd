/** Serves metrics to Prometheus on a separate port, away from buyers. */
import { createServer } from "node:http"
import { Effect, Layer } from "effect"
import { PrometheusMetrics } from "effect/observability"
import { securityHeaders } from "../http/SecurityHeaders.ts"
import { prometheusName } from "./Names.ts"
import type { MetricsPort } from "./TelemetryConfig.ts"

const guard = securityHeaders(false)()

export const text = PrometheusMetrics.format({ metricNameMapper: prometheusName })

export const layer = ({ host, port }: MetricsPort) =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const run = Effect.runPromiseWith(yield* Effect.context<never>())
      const server = createServer({ headersTimeout: 5000, requestTimeout: 10_000 }, (request, response) => {
        request.resume()
        if (request.url?.split("?", 1)[0] !== "/metrics") return void response.writeHead(404, guard).end()
        if (request.method !== "GET" && request.method !== "HEAD")
          return void response.writeHead(405, { ...guard, allow: "GET, HEAD" }).end()
        void run(text).then(
          (body) =>
            response
              .writeHead(200, {
                ...guard,
                "content-type": "text/plain; version=0.0.4; charset=utf-8",
                "content-length": Buffer.byteLength(body),
              })
              .end(body),
          () => response.writeHead(500, guard).end(),
        )
      })
      yield* Effect.acquireRelease(
        Effect.callback<void>((resume) => {
          server.once("error", (error) => resume(Effect.die(new Error(`METRICS_PORT ${port}: ${error.message}`))))
          server.listen(port, host, () => resume(Effect.void))
        }),
        () => Effect.sync(() => server.close().closeAllConnections()),
      )
    }),
  )
