/** A collector of traces and metrics (OTLP over HTTP), configured by the variables of OpenTelemetry. */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { Cause, Config, ConfigProvider, Effect, Layer, Option } from "effect"
import { HttpClient, HttpClientResponse } from "effect/http"
import { OtlpMetrics, OtlpSerialization, OtlpTracer } from "effect/observability"
import { version } from "../platform/Software.ts"
import { scrubbed } from "./Scrub.ts"

/** As OpenTelemetry has them where Effect has none. */
const defaults = ConfigProvider.layerAdd(
  ConfigProvider.fromUnknown({
    OTEL_TRACES_EXPORTER: "otlp",
    OTEL_METRICS_EXPORTER: "otlp",
    OTEL_SERVICE_NAME: "spirit-altar",
  }),
)

const clean = (_: string, value: unknown) => (typeof value === "string" ? scrubbed(value) : value)

/** Scrubs each text, since failures quote their input. */
const scrubbing = Layer.effect(
  OtlpSerialization.OtlpSerialization,
  Effect.map(OtlpSerialization.OtlpSerialization, (plain) => ({
    ...plain,
    traces: (data: Parameters<typeof plain.traces>[0]) => plain.traces(JSON.parse(JSON.stringify(data, clean))),
  })),
)

const protocol = Config.withDefault(
  Config.Literals(["http/protobuf", "http/json"], "OTEL_EXPORTER_OTLP_PROTOCOL"),
  "http/protobuf",
)

const serialization = scrubbing.pipe(
  Layer.provide(
    Layer.unwrap(
      Effect.map(Effect.orDie(protocol), (name) =>
        name === "http/json" ? OtlpSerialization.layerJson : OtlpSerialization.layerProtobuf,
      ),
    ),
  ),
)

/** OpenTelemetry's variables of sampling, which Effect does not read. */
export const sampler = Config.all({
  kind: Config.withDefault(
    Config.Literals(
      [
        "always_on",
        "always_off",
        "traceidratio",
        "parentbased_always_on",
        "parentbased_always_off",
        "parentbased_traceidratio",
      ],
      "OTEL_TRACES_SAMPLER",
    ),
    "parentbased_always_on",
  ),
  ratio: Config.withDefault(Config.Finite("OTEL_TRACES_SAMPLER_ARG"), 1),
})
const resource = { serviceVersion: version }

const configured = {
  traces: OtlpTracer.layerFromConfig({ resource }).pipe(Layer.provide(serialization), Layer.provide(defaults)),
  metrics: OtlpMetrics.layerFromConfig({ resource }).pipe(Layer.provide(serialization), Layer.provide(defaults)),
}

export const traces = Layer.provide(configured.traces, NodeHttpClient.layerUndici)

export const metrics = Layer.provide(configured.metrics, NodeHttpClient.layerUndici)

const endpoint = Config.option(Config.URL("OTEL_EXPORTER_OTLP_ENDPOINT"))

/** Sends nothing: the exporters are made to see whether they can be. */
const mute = Layer.succeed(
  HttpClient.HttpClient,
  HttpClient.make((request) => Effect.succeed(HttpClientResponse.fromWeb(request, new Response()))),
)

/**
 * Why nothing is exported though a variable of OpenTelemetry asks for it. Such a variable is often inherited, so it is no
 * reason to sell nothing. The message names the variables and not their values.
 */
export const faults: Effect.Effect<ReadonlyArray<string>> = Effect.all([endpoint, protocol, sampler]).pipe(
  Effect.andThen(Layer.build(Layer.mergeAll(configured.traces, configured.metrics).pipe(Layer.provide(mute)))),
  Effect.scoped,
  Effect.as([]),
  Effect.catchCause((cause) => {
    const names = new Set(Cause.pretty(cause).match(/\bOTEL_[A-Z_]+/gu))
    return Effect.succeed([
      `${[...names].join(", ") || "A variable of OpenTelemetry"} cannot be used, so no traces or metrics are sent to a collector.`,
    ])
  }),
)

/** Whether a collector is configured. Without one nothing is made for it. */
export const isOn = Effect.flatMap(faults, ({ length }) =>
  length > 0 ? Effect.succeed(false) : Effect.map(Effect.orDie(endpoint), Option.isSome),
)
