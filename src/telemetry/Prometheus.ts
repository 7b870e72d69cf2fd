/** Serves metrics to Prometheus on a separate port, away from buyers. */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { createServer } from "node:http"
import { Effect, Layer, References } from "effect"
import { HttpRouter } from "effect/http"
import { PrometheusMetrics } from "effect/observability"

export interface MetricsPort {
  readonly host: string
  readonly port: number
}

/** A name of OpenTelemetry's conventions, which Prometheus writes with its unit. */
const duration = "http.server.request.duration"

const metrics = PrometheusMetrics.layerHttp({ metricNameMapper: (id) => (id === duration ? `${id}.seconds` : id) })

const limits = { headersTimeout: 5000, requestTimeout: 10_000 }

export const layer = (port: MetricsPort) =>
  HttpRouter.serve(metrics, { disableLogger: true, disableListenLog: true }).pipe(
    Layer.provide(NodeHttpServer.layer(() => createServer(limits), port)),
    Layer.provide(Layer.succeed(References.TracerEnabled, false)),
    Layer.fresh,
    Layer.catchTag("ServeError", ({ cause }) =>
      Layer.effectDiscard(Effect.die(new Error(`METRICS_PORT ${port.port}: ${cause}`))),
    ),
  )
