/** What a server says of itself, and to whom: log lines, metrics on a port of their own, and OTLP. */
import type { Duration, Redacted } from "effect"
import type { LinesConfig } from "./Lines.ts"

export interface MetricsPort {
  readonly host: string
  readonly port: number
}

/** As OpenTelemetry names them. */
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
