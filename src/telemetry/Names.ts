/** Names of metrics in Prometheus, with units, and `_total` for counters (OpenTelemetry's rules). */

const renamed: Readonly<Record<string, string>> = {
  "http.server.request.duration": "http.server.request.duration.seconds",
  "altar.payment.transitions": "altar.payment.transitions.total",
  "altar.payment.duration": "altar.payment.duration.seconds",
  "altar.payment.settlement.duration": "altar.payment.settlement.duration.seconds",
  "altar.payment.evidence.duration": "altar.payment.evidence.duration.seconds",
  "altar.payment.oldest_pending.age": "altar.payment.oldest_pending.age.seconds",
  "altar.rpc.duration": "altar.rpc.duration.seconds",
  "altar.relayer.balance": "altar.relayer.balance.ether",
  "altar.relayer.spent": "altar.relayer.spent.ether.total",
  "altar.relayer.unmined.age": "altar.relayer.unmined.age.seconds",
  "altar.log.uncovered.age": "altar.log.uncovered.age.seconds",
  "altar.watch.fresh": "altar.watch.fresh.timestamp.seconds",
  "altar.watch.checks": "altar.watch.checks.total",
  "altar.limiter.refusals": "altar.limiter.refusals.total",
  "altar.clock.ahead": "altar.clock.ahead.seconds",
  "altar.log.checkpoint.age": "altar.log.checkpoint.age.seconds",
  "process.memory.usage": "process.memory.usage.bytes",
  "process.cpu.time": "process.cpu.time.seconds.total",
}

/** The name of a metric, still with dots. */
export const prometheusName = (id: string): string => renamed[id] ?? id
