/** The configuration of log lines, metrics on a port of their own, and OTLP. */
import type { Duration, Redacted } from "effect"
import type { LogLinesConfig } from "./LogLines.ts"

export interface MetricsPort {
  readonly host: string
  readonly port: number
}

/** The names of OpenTelemetry. */
export const samplers = [
  "always_on",
  "always_off",
  "traceidratio",
  "parentbased_always_on",
  "parentbased_always_off",
  "parentbased_traceidratio",
] as const
export type Sampler = (typeof samplers)[number]

export interface OtlpConfig {
  /** URLs of the collector, absent for signals that are off. */
  readonly traces?: string | undefined
  readonly metrics?: string | undefined
  /** Often holds the collector's key. */
  readonly headers: Redacted.Redacted<Readonly<Record<string, string>>>
  readonly protocol: "http/json" | "http/protobuf"
  readonly serviceName: string
  readonly attributes: Readonly<Record<string, string>>
  readonly sampler: Sampler
  /** The share of traces that a ratio sampler keeps, from 0 to 1. */
  readonly ratio: number
  readonly metricsEvery: Duration.Duration
}

export interface TelemetryConfig {
  readonly log: LogLinesConfig
  /** The address of the metrics port; absent without one. */
  readonly metricsPort?: MetricsPort | undefined
  /** Absent without an endpoint. */
  readonly otlp?: OtlpConfig | undefined
}
