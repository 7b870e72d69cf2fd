/** Assembles logs, metrics and traces. A part that is not configured costs nothing. */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { Context, Effect, Layer, Redacted, References, Tracer } from "effect"
import { OtlpMetrics } from "effect/observability"
import * as Gauges from "./Gauges.ts"
import * as Logs from "./Logs.ts"
import * as Prometheus from "./Prometheus.ts"
import * as Requests from "./Requests.ts"
import type { RouteName } from "./RouteNames.ts"
import type { TelemetryConfig } from "./TelemetryConfig.ts"
import * as Tracing from "./Tracing.ts"

/** The configuration of metrics and traces. By default there are none. */
export const Telemetry = Context.Reference<Omit<TelemetryConfig, "log">>("spirit-altar/telemetry/Telemetry", {
  defaultValue: () => ({}),
})

/** The log and the configuration of metrics and traces. */
export const layer = (config: TelemetryConfig) => Layer.merge(Logs.layer(config.log), Layer.succeed(Telemetry, config))

const metricsLayer = ({ metricsPort, otlp }: Omit<TelemetryConfig, "log">) => {
  const exporters = [
    ...(metricsPort === undefined ? [] : [Prometheus.layer(metricsPort)]),
    ...(otlp?.metrics === undefined
      ? []
      : [
          OtlpMetrics.layer({
            url: otlp.metrics,
            headers: Redacted.value(otlp.headers),
            resource: Tracing.resourceOf(otlp),
            exportInterval: otlp.metricsEvery,
          }).pipe(Layer.provide(Tracing.serialization(otlp)), Layer.provide(NodeHttpClient.layerUndici)),
        ]),
  ]
  return exporters
}

/** Gauges and their exporters over the services of a server; empty without exporters. */
export const metrics = Layer.unwrap(
  Effect.map(Telemetry, (config) => {
    const [first, ...others] = metricsLayer(config)
    return first === undefined ? Layer.empty : Layer.mergeAll(Gauges.layer, first, ...others)
  }),
)

/** Without a collector no spans are made and no trace context is sent. */
const untraced = Layer.merge(
  Layer.succeed(References.TracerEnabled, false),
  Layer.succeed(Tracer.DisablePropagation, true),
)

/** Observes requests for the log, for metrics, and for a collector of traces if configured. */
export const requests = (nameOf: RouteName) =>
  Layer.unwrap(
    Effect.map(Telemetry, ({ otlp }) =>
      Layer.merge(
        Requests.layer(nameOf),
        otlp?.traces === undefined
          ? untraced
          : Tracing.layer(otlp, otlp.traces, nameOf).pipe(Layer.provide(NodeHttpClient.layerUndici)),
      ),
    ),
  )
