/** Caches the series of a metric. Attributes have few values, so few combinations exist. */
import { Metric } from "effect"

export const seriesOf = <Input, State>(metric: Metric.Metric<Input, State>) => {
  const byName = new Map<string, Metric.Metric<Input, State>>()
  return (attributes: Readonly<Record<string, string>>): Metric.Metric<Input, State> => {
    const name = Object.values(attributes).join(" ")
    const series = byName.get(name) ?? Metric.withAttributes(metric, attributes)
    byName.set(name, series)
    return series
  }
}
