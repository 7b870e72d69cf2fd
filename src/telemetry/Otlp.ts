/** A collector of traces and metrics (OTLP over HTTP), configured by the variables of OpenTelemetry. */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { Config, ConfigProvider, Effect, Layer, Option } from "effect"
import { OtlpMetrics, OtlpSerialization, OtlpTracer } from "effect/observability"
import { version } from "../platform/Software.ts"
import { scrubbed } from "./Scrub.ts"

/** Whether a collector is configured. Without one nothing is made for it. */
export const isOn = Effect.map(Effect.orDie(Config.option(Config.URL("OTEL_EXPORTER_OTLP_ENDPOINT"))), (endpoint) =>
  Option.isSome(endpoint),
)

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
      Effect.map(Effect.orDie(protocol), (one) =>
        one === "http/json" ? OtlpSerialization.layerJson : OtlpSerialization.layerProtobuf,
      ),
    ),
  ),
)

const resource = { serviceVersion: version }

const connected = Layer.mergeAll(serialization, NodeHttpClient.layerUndici)

export const traces = OtlpTracer.layerFromConfig({ resource }).pipe(Layer.provide(connected), Layer.provide(defaults))

export const metrics = OtlpMetrics.layerFromConfig({ resource }).pipe(Layer.provide(connected), Layer.provide(defaults))
