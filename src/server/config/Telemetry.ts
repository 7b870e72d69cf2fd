/** The configuration of logs, metrics and traces. By default the server only logs JSON lines. */
import { Config, Duration, Option, Redacted, Schema } from "effect"
import type { LogLinesConfig } from "../../telemetry/LogLines.ts"
import type { MetricsPort, OtlpConfig, TelemetryConfig } from "../../telemetry/TelemetryConfig.ts"
import * as Table from "./Table.ts"

/** Converts a share of reads to an interval: for 0.01, one of 100 is logged. */
const readsPerLine = (share: number) => (share <= 0 ? Number.MAX_SAFE_INTEGER : Math.max(1, Math.round(1 / share)))

export const log: Config.Config<LogLinesConfig> = Config.map(Config.all(Table.lines), ({ reads, ...others }) => ({
  ...others,
  readsPerLine: readsPerLine(reads),
}))

const metricsPort: Config.Config<MetricsPort | undefined> = Config.map(Config.all(Table.metrics), ({ host, port }) =>
  Option.isSome(port) ? { host, port: port.value } : undefined,
)

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

const otlp: Config.Config<OtlpConfig | undefined> = Config.map(Config.all(Table.otlp), (env) => {
  const { endpoint } = env
  if (env.isOff || Option.isNone(endpoint)) return undefined
  const { attributes: named, headers, metrics, metricsEvery, protocol, ratio, sampler, serviceName, traces } = env
  const at = (signal: string) => `${new URL(endpoint.value).href.replace(/\/$/u, "")}/v1/${signal}`
  const attributes = pairs(named)
  return {
    traces: isOtlp(traces) ? at("traces") : undefined,
    metrics: isOtlp(metrics) ? at("metrics") : undefined,
    headers: Redacted.make(pairs(Option.match(headers, { onNone: () => "", onSome: Redacted.value }))),
    protocol,
    serviceName: serviceName || attributes["service.name"] || "spirit-altar",
    attributes,
    sampler,
    ratio,
    metricsEvery: Duration.millis(Math.max(1000, metricsEvery)),
  }
})

export const telemetry: Config.Config<TelemetryConfig> = Config.all({ log, metricsPort, otlp })
