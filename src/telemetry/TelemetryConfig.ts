/** What a server says of itself, and to whom: log lines, metrics on a port of their own, and OTLP by its standard variables. */
import { Config, ConfigProvider, Duration, Option, Redacted, Schema } from "effect"
import type { LinesConfig } from "./Lines.ts"
import { type Variable, variable } from "../Variables.ts"

export interface MetricsPort {
  readonly host: string
  readonly port: number
}

const Samplers = Schema.Literals([
  "always_on",
  "always_off",
  "traceidratio",
  "parentbased_always_on",
  "parentbased_always_off",
  "parentbased_traceidratio",
])
export type Sampler = typeof Samplers.Type

export interface OtlpConfig {
  /** URLs of the collector; absent where the signal is not wanted. */
  readonly traces?: string | undefined
  readonly metrics?: string | undefined
  /** Often a key of whoever collects. */
  readonly headers: Redacted.Redacted<Readonly<Record<string, string>>>
  readonly protocol: "http/json" | "http/protobuf"
  readonly serviceName: string
  readonly attributes: Readonly<Record<string, string>>
  readonly sampler: Sampler
  /** Of a ratio's sampler: the share of traces that is kept, from 0 to 1. */
  readonly ratio: number
  readonly metricsEvery: Duration.Duration
}

export interface TelemetryConfig {
  readonly log: LinesConfig
  /** Where Prometheus may ask; absent without a port. */
  readonly metricsPort?: MetricsPort | undefined
  /** Absent without an endpoint. */
  readonly otlp?: OtlpConfig | undefined
}

/** A whole number that a share of reads stands for: of 0.01, one of 100 is logged. */
const readsPerLine = (share: number) => (share <= 0 ? Number.MAX_SAFE_INTEGER : Math.max(1, Math.round(1 / share)))

const Share = Schema.FiniteFromString.check(Schema.isBetween({ minimum: 0, maximum: 1 }))

export const log: Config.Config<LinesConfig> = Config.all({
  format: Config.schema(Schema.Literals(["json", "pretty"]), variable("LOG_FORMAT")).pipe(
    Config.withDefault("json" as const),
  ),
  level: Config.LogLevel(variable("LOG_LEVEL")).pipe(Config.withDefault("Info" as const)),
  readsPerLine: Config.schema(Share, variable("LOG_READS")).pipe(Config.withDefault(0.01), Config.map(readsPerLine)),
})

const metricsPort: Config.Config<MetricsPort | undefined> = Config.map(
  Config.all({
    host: Config.NonEmptyString(variable("METRICS_HOST")).pipe(Config.withDefault("127.0.0.1")),
    port: Config.option(Config.Port(variable("METRICS_PORT"))),
  }),
  ({ host, port }) => (Option.isSome(port) ? { host, port: port.value } : undefined),
)

const text = (name: Variable, fallback: string) => Config.String(name).pipe(Config.withDefault(fallback))

const isOtlp = (exporters: string) =>
  exporters
    .split(",")
    .map((one) => one.trim())
    .includes("otlp")

const unescaped = (part: string) =>
  Option.getOrElse(Schema.decodeOption(Schema.StringFromUriComponent)(part), () => part)

/** `name=value` pairs, separated by commas, escaped as in a URL. */
const pairs = (joined: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    joined.split(",").flatMap((pair) => {
      const [name = "", ...rest] = pair.split("=")
      return name.trim() === "" ? [] : [[unescaped(name.trim()), unescaped(rest.join("=").trim())]]
    }),
  )

const otlp: Config.Config<OtlpConfig | undefined> = Config.all({
  isOff: Config.Boolean(variable("OTEL_SDK_DISABLED")).pipe(Config.withDefault(false)),
  endpoint: Config.option(Config.URL(variable("OTEL_EXPORTER_OTLP_ENDPOINT"))),
  headers: Config.Redacted(variable("OTEL_EXPORTER_OTLP_HEADERS")).pipe(Config.withDefault(Redacted.make(""))),
  protocol: Config.schema(
    Schema.Literals(["http/json", "http/protobuf"]),
    variable("OTEL_EXPORTER_OTLP_PROTOCOL"),
  ).pipe(Config.withDefault("http/protobuf" as const)),
  traces: text("OTEL_TRACES_EXPORTER", "otlp"),
  metrics: text("OTEL_METRICS_EXPORTER", "otlp"),
  serviceName: text("OTEL_SERVICE_NAME", ""),
  attributes: text("OTEL_RESOURCE_ATTRIBUTES", ""),
  sampler: Config.schema(Samplers, variable("OTEL_TRACES_SAMPLER")).pipe(
    Config.withDefault("parentbased_always_on" as const),
  ),
  ratio: Config.schema(Share, variable("OTEL_TRACES_SAMPLER_ARG")).pipe(Config.withDefault(1)),
  metricsEvery: Config.Int(variable("OTEL_METRIC_EXPORT_INTERVAL")).pipe(Config.withDefault(60_000)),
}).pipe(
  Config.flatMap((env): Config.Config<OtlpConfig | undefined> => {
    if (env.isOff || Option.isNone(env.endpoint)) return Config.succeed(undefined)
    const base = env.endpoint.value
    if (base.protocol !== "http:" && base.protocol !== "https:") {
      return Config.fail(
        new ConfigProvider.SourceError({
          message:
            "OTEL_EXPORTER_OTLP_ENDPOINT is the base URL of a collector that takes OTLP over HTTP: http or https.",
        }),
      )
    }
    const at = (signal: string) => `${base.href.replace(/\/$/u, "")}/v1/${signal}`
    const attributes = pairs(env.attributes)
    return Config.succeed({
      traces: isOtlp(env.traces) ? at("traces") : undefined,
      metrics: isOtlp(env.metrics) ? at("metrics") : undefined,
      headers: Redacted.make(pairs(Redacted.value(env.headers))),
      protocol: env.protocol,
      serviceName: env.serviceName || attributes["service.name"] || "spirit-altar",
      attributes,
      sampler: env.sampler,
      ratio: env.ratio,
      metricsEvery: Duration.millis(Math.max(1000, env.metricsEvery)),
    })
  }),
)

/** All of it; a server that is given nothing logs JSON lines, and no more. */
export const telemetry: Config.Config<TelemetryConfig> = Config.all({ log, metricsPort, otlp })
