/** The configuration of log lines and the metrics port. The exporters read the variables of OpenTelemetry themselves. */
import { Config, Option } from "effect"
import type { Format } from "../../telemetry/LogLines.ts"
import type { TelemetryConfig } from "../../telemetry/Telemetry.ts"
import * as Table from "./Table.ts"

/** A server writes JSON, and a sandbox text for people. */
export const telemetry = (format: Format): Config.Config<TelemetryConfig> =>
  Config.map(Config.all({ log: Config.all(Table.lines), metrics: Table.metrics.at }), ({ log, metrics }) => ({
    log: { ...log, format },
    metricsPort: Option.getOrUndefined(metrics),
  }))
