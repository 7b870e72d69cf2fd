/** Assembles logs, metrics and traces. A part that is not configured costs nothing. */
import { Context, Effect, Layer, References, Tracer } from "effect"
import * as Gauges from "./Gauges.ts"
import * as Otlp from "./Otlp.ts"
import * as Prometheus from "./Prometheus.ts"
import * as Requests from "./Requests.ts"
import type { RouteName } from "./RouteNames.ts"
import * as LogLines from "./LogLines.ts"
import * as Tracing from "./Tracing.ts"

export interface TelemetryConfig {
  readonly log: LogLines.LogLinesConfig
  /** The address of the metrics port; absent without one. */
  readonly metricsPort?: Prometheus.MetricsPort | undefined
}

/** The configuration of the metrics port. By default there is none. */
export const Telemetry = Context.Reference<Omit<TelemetryConfig, "log">>("spirit-altar/telemetry/Telemetry", {
  defaultValue: () => ({}),
})

/** The log and the configuration of the metrics port. */
export const layer = (config: TelemetryConfig) =>
  Layer.merge(LogLines.layer(config.log), Layer.succeed(Telemetry, config))

/** Gauges and their exporters over the services of a server; empty without exporters. */
export const metrics = Layer.unwrap(
  Effect.gen(function* () {
    const { metricsPort } = yield* Telemetry
    const hasCollector = yield* Otlp.isOn
    if (metricsPort === undefined && !hasCollector) return Layer.empty
    return Layer.mergeAll(
      Gauges.layer,
      metricsPort === undefined ? Layer.empty : Prometheus.layer(metricsPort),
      hasCollector ? Otlp.metrics : Layer.empty,
    )
  }),
)

/** Without a collector no spans are made and no trace context is sent. */
const untraced = Layer.merge(
  Layer.succeed(References.TracerEnabled, false),
  Layer.succeed(Tracer.DisablePropagation, true),
)

/** Observes requests for the log, for metrics, and for a collector of traces if configured. */
export const requests = (nameOf: RouteName) =>
  Layer.merge(
    Requests.layer(nameOf),
    Layer.unwrap(Effect.map(Otlp.isOn, (hasCollector) => (hasCollector ? Tracing.layer(nameOf) : untraced))),
  )
