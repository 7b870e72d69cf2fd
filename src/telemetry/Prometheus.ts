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

/** Names with units, and `_total` for counters (OpenTelemetry's rules). */
const renamed: Readonly<Record<string, string>> = {
  "http.server.request.duration": "http.server.request.duration.seconds",
  "altar.payment.transitions": "altar.payment.transitions.total",
  "altar.payment.duration": "altar.payment.duration.seconds",
  "altar.payment.settlement.duration": "altar.payment.settlement.duration.seconds",
  "altar.payment.evidence.duration": "altar.payment.evidence.duration.seconds",
  "altar.payment.oldest_pending.age": "altar.payment.oldest_pending.age.seconds",
  "altar.rpc.duration": "altar.rpc.duration.seconds",
  "altar.relayer.balance": "altar.relayer.balance.ether",
  "altar.relayer.spent": "altar.relayer.spent.ether.total",
  "altar.relayer.unmined.age": "altar.relayer.unmined.age.seconds",
  "altar.log.uncovered.age": "altar.log.uncovered.age.seconds",
  "altar.limiter.refusals": "altar.limiter.refusals.total",
  "altar.clock.ahead": "altar.clock.ahead.seconds",
  "altar.log.checkpoint.age": "altar.log.checkpoint.age.seconds",
  "process.memory.usage": "process.memory.usage.bytes",
}

const metrics = PrometheusMetrics.layerHttp({ metricNameMapper: (id) => renamed[id] ?? id })

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
