/** The configuration of log lines, and of metrics on a port of their own. */
import type { LogLinesConfig } from "./LogLines.ts"

export interface MetricsPort {
  readonly host: string
  readonly port: number
}

export interface TelemetryConfig {
  readonly log: LogLinesConfig
  /** The address of the metrics port; absent without one. */
  readonly metricsPort?: MetricsPort | undefined
}
