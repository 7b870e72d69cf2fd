/** What has to be asked for to be known, as gauges: asked every few seconds, and only where somebody reads metrics. */
import { performance } from "node:perf_hooks"
import { Clock, Effect, Layer, Metric, Option, Schedule } from "effect"
import { WitnessChain } from "../altar/witness/WitnessChain.ts"
import { PublishedLog } from "../log/PublishedLog.ts"
import { Availability } from "../payments/Availability.ts"
import { Standings } from "../payments/ledger/Standing.ts"
import { NodeWatch } from "../payments/x402/node/NodeWatch.ts"
import { DatabaseClock } from "../platform/DatabaseClock.ts"

const every = "10 seconds"

const gauge = (id: string, description: string, unit?: string) =>
  Metric.gauge(id, { description, attributes: unit === undefined ? {} : { unit } })

const attempts = gauge(
  "altar.payment.attempts",
  "Attempts to pay, by how they stand; `unfinal` and `lost` are settled.",
)
const oldest = gauge("altar.payment.oldest_pending.age", "Age of the oldest attempt whose outcome is not known.", "s")
const connections = gauge("db.client.connection.count", "Connections of all servers to the database, by state.")
const databaseUp = gauge("altar.database.up", "1 while the database answers, 0 while it does not.")
const clockAhead = gauge("altar.clock.ahead", "How far this server's clock is ahead of the database's.", "s")
const salesPaused = gauge("altar.sales.paused", "1 while the operator has paused sales, 0 while they go on.")
const paymentsTaken = gauge("altar.payments.taken", "1 while a payment on chain could be taken, 0 while none could.")
const nodeUp = gauge("altar.rpc.up", "1 while the node answers, 0 while it does not.")
const headAge = gauge("altar.rpc.head.age.seconds", "Age of the newest block of the node.", "s")
const balance = gauge("altar.relayer.balance", "What our relayer holds to pay gas with.", "{ether}")
const waiting = gauge("altar.relayer.nonce_lag", "Transactions of our relayer that are sent and in no block.")
const unminedAge = gauge(
  "altar.relayer.unmined.age",
  "How long the oldest of these has waited while this was watched.",
  "s",
)
const chainHead = gauge("altar.chain.head", "Position of the newest stone.")
const chainUp = gauge("altar.chain.whole", "1 while the newest link hashes, 0 where it does not.")
const logLag = gauge("altar.log.lag", "Stones that no published checkpoint covers yet.")
const uncoveredAge = gauge(
  "altar.log.uncovered.age",
  "How long the oldest of these has waited while this was watched.",
  "s",
)
const logAge = gauge("altar.log.checkpoint.age", "Age of the newest checkpoint.", "s")
const logRunning = gauge("altar.log.running", "1 while the transparency log grows, 0 while it is stopped.")
const memory = gauge("process.memory.usage", "Resident memory of this server.", "By")
const loop = gauge("nodejs.eventloop.utilization", "Share of time in which the event loop was busy.")

const spent = Metric.counter("altar.relayer.spent", {
  description: "What our relayer's balance fell by while this server watched: gas, in ether.",
  attributes: { unit: "{ether}" },
  incremental: true,
})

const etherOf = (wei: bigint) => Number(wei) / 1e18

/** A number that is not known is not shown, instead of the one that was. */
const unknown = (gauges: ReadonlyArray<Metric.Gauge<number>>) =>
  Effect.forEach(gauges, Metric.remove, { discard: true })

/** Seconds since a place that something waits at moved last: a queue that moves is busy, one that stands is stuck. */
const standing = () => {
  let before = { place: -1, since: 0 }
  return (place: number, isWaiting: boolean) =>
    Effect.map(Clock.currentTimeMillis, (now) => {
      if (!isWaiting || before.place !== place) before = { place, since: now }
      return (now - before.since) / 1000
    })
}

const stateOf = (state: string) => Metric.withAttributes(attempts, { state })
const connectionsIn = (state: string) => Metric.withAttributes(connections, { state })

export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const standings = yield* Standings
    const node = yield* NodeWatch
    const availability = yield* Availability
    const clock = yield* DatabaseClock
    const chain = yield* WitnessChain
    const log = yield* PublishedLog
    let lastBalance: bigint | undefined
    const minedStands = standing()
    const coverStands = standing()
    let busy = performance.eventLoopUtilization()

    const askDatabase = Effect.gen(function* () {
      const found = yield* standings.now
      yield* Metric.update(databaseUp, 1)
      yield* Metric.update(stateOf("pending"), found.pending)
      yield* Metric.update(stateOf("settled"), found.settled)
      yield* Metric.update(stateOf("unfinal"), found.unfinal)
      yield* Metric.update(stateOf("lost"), found.lost)
      yield* Metric.update(oldest, found.oldestSeconds)
      yield* Metric.update(connectionsIn("used"), found.connectionsUsed)
      yield* Metric.update(connectionsIn("idle"), found.connectionsIdle)
    }).pipe(
      Effect.timeout("5 seconds"),
      Effect.catchCause(() =>
        Effect.andThen(
          Metric.update(databaseUp, 0),
          unknown([
            oldest,
            ...["pending", "settled", "unfinal", "lost"].map(stateOf),
            ...["used", "idle"].map(connectionsIn),
          ]),
        ),
      ),
    )

    const askClock = clock.now.pipe(
      Effect.timeout("5 seconds"),
      Effect.flatMap(({ aheadMillis }) => Metric.update(clockAhead, aheadMillis / 1000)),
      Effect.catchCause(() => unknown([clockAhead])),
    )

    const askSales = Effect.gen(function* () {
      const { isPaused, settlement } = yield* availability.state
      yield* Metric.update(salesPaused, isPaused ? 1 : 0)
      yield* Metric.update(paymentsTaken, settlement === "failing" ? 0 : 1)
    })

    const askNode = Effect.gen(function* () {
      const found = yield* node.now
      if (Option.isNone(found)) return
      yield* Metric.update(nodeUp, 1)
      yield* Metric.update(headAge, found.value.headAgeSeconds)
      if (Option.isNone(found.value.relayer)) return
      const { balanceWei, mined, waiting: sent } = found.value.relayer.value
      yield* Metric.update(balance, etherOf(balanceWei))
      yield* Metric.update(waiting, sent)
      yield* Metric.update(unminedAge, yield* minedStands(mined, sent > 0))
      const fell = lastBalance !== undefined && balanceWei < lastBalance ? lastBalance - balanceWei : 0n
      yield* Metric.update(spent, etherOf(fell))
      lastBalance = balanceWei
    }).pipe(
      Effect.timeout("5 seconds"),
      Effect.catchCause(() =>
        Effect.andThen(Metric.update(nodeUp, 0), unknown([headAge, balance, waiting, unminedAge])),
      ),
    )

    const askChains = Effect.gen(function* () {
      const { sequence } = yield* chain.head
      yield* Metric.update(chainHead, sequence)
      yield* Metric.update(chainUp, 1)
      if (Option.isNone(log.identity)) return
      yield* Metric.update(logRunning, Option.isNone(yield* log.stopped) ? 1 : 0)
      // Before the first checkpoint nothing is covered; that says nothing against the chain.
      const published = yield* Effect.catchTag(Effect.asSome(log.checkpoint), "NotPublished", () => Effect.succeedNone)
      const size = Option.match(published, { onNone: () => 0, onSome: (one) => one.size })
      yield* Metric.update(logLag, Math.max(0, sequence - size))
      yield* Metric.update(uncoveredAge, yield* coverStands(size, sequence > size))
      if (Option.isNone(published)) return yield* unknown([logAge])
      yield* Metric.update(logAge, ((yield* Clock.currentTimeMillis) - published.value.at.getTime()) / 1000)
    }).pipe(
      Effect.timeout("5 seconds"),
      Effect.catchTags({
        ChainBroken: () => Metric.update(chainUp, 0),
        LogStopped: () => Effect.andThen(Metric.update(logRunning, 0), unknown([logLag, uncoveredAge, logAge])),
      }),
      Effect.catchCause(() => unknown([chainHead, chainUp, logLag, uncoveredAge, logAge, logRunning])),
    )

    const askProcess = Effect.gen(function* () {
      const since = performance.eventLoopUtilization(busy)
      busy = performance.eventLoopUtilization()
      yield* Metric.update(loop, since.utilization)
      yield* Metric.update(memory, process.memoryUsage.rss())
    })

    yield* Effect.all([askDatabase, askClock, askSales, askNode, askChains, askProcess], {
      concurrency: "unbounded",
      discard: true,
    }).pipe(Effect.withTracerEnabled(false), Effect.repeat(Schedule.spaced(every)), Effect.forkScoped)
  }),
)
