/** The configuration of log lines and the metrics port. The exporters read the variables of OpenTelemetry themselves. */
import { Config, Option } from "effect"
import type { TelemetryConfig } from "../../telemetry/TelemetryConfig.ts"
import * as Table from "./Table.ts"

export const telemetry: Config.Config<TelemetryConfig> = Config.map(
  Config.all({ log: Config.all(Table.lines), metrics: Table.metrics.at }),
  ({ log, metrics }) => ({ log, metricsPort: Option.getOrUndefined(metrics) }),
)
