/** All that a server says of itself, put together: what nobody asked for costs nothing. */
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

/** How it is configured; a server that is not told keeps to itself. */
export const Telemetry = Context.Reference<Omit<TelemetryConfig, "log">>("spirit-altar/telemetry/Telemetry", {
  defaultValue: () => ({}),
})

/** The lines of the log, and what the server shall tell whom. */
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

/** Gauges and whoever reads them, over the services of a server; nothing where nobody does. */
export const metrics = Layer.unwrap(
  Effect.map(Telemetry, (config) => {
    const [first, ...others] = metricsLayer(config)
    return first === undefined ? Layer.empty : Layer.mergeAll(Gauges.layer, first, ...others)
  }),
)

/** Spans that nobody collects are not made, and nobody is told of a trace. */
const untraced = Layer.merge(
  Layer.succeed(References.TracerEnabled, false),
  Layer.succeed(Tracer.DisablePropagation, true),
)

/** What is told of requests: to the log, to the metrics, and to a collector of traces where one is named. */
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
