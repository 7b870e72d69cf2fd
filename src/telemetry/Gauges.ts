/** Gauges that are measured every few seconds, only if metrics are exported. */
import { Clock, Effect, Layer, Metric, Option, Record, Schedule } from "effect"
import { WitnessChain } from "../altar/witness/WitnessChain.ts"
import { PublishedLog } from "../log/PublishedLog.ts"
import { Availability } from "../payments/Availability.ts"
import { Lookup } from "../payments/store/Lookup.ts"
import { NodeWatch } from "../payments/x402/chain/NodeWatch.ts"
import { DatabaseClock } from "../platform/DatabaseClock.ts"

const every = "10 seconds"

const gauge = (id: string, description: string, unit?: string) =>
  Metric.gauge(id, { description, attributes: unit === undefined ? {} : { unit } })

const attempts = gauge("altar.payment.attempts", "Payment attempts by state; `unfinal` and `lost` are settled.")

const database = {
  databaseUp: gauge("altar.database.up", "1 while the database answers, else 0."),
  pending: Metric.withAttributes(attempts, { state: "pending" }),
  settled: Metric.withAttributes(attempts, { state: "settled" }),
  unfinal: Metric.withAttributes(attempts, { state: "unfinal" }),
  lost: Metric.withAttributes(attempts, { state: "lost" }),
  oldestSeconds: gauge(
    "altar.payment.oldest_pending.age.seconds",
    "Age of the oldest attempt with an unknown outcome.",
    "s",
  ),
}

const clocks = {
  ahead: gauge("altar.clock.ahead.seconds", "Seconds that this server's clock is ahead of the database's.", "s"),
}

const sales = {
  paused: gauge("altar.sales.paused", "1 while the operator has paused sales, else 0."),
  taken: gauge("altar.payments.taken", "1 while payments on chain are possible, else 0."),
}

const nodes = {
  up: gauge("altar.rpc.up", "1 while the node answers, else 0."),
  headAge: gauge("altar.rpc.head.age.seconds", "Age of the newest block of the node.", "s"),
  balance: gauge("altar.relayer.balance.ether", "Balance of our relayer, which pays the gas.", "{ether}"),
  waiting: gauge("altar.relayer.nonce_lag", "Transactions of our relayer in flight."),
  unminedAge: gauge("altar.relayer.unmined.age.seconds", "Observed age of the oldest of these.", "s"),
}

const relayers = {
  gasLost: gauge(
    "altar.relayer.gas_lost.ether",
    "Gas that transactions which did not pay cost in the last hour.",
    "{ether}",
  ),
}

const chains = {
  head: gauge("altar.chain.head", "Position of the newest stone."),
  whole: gauge("altar.chain.whole", "1 while the newest link hashes, else 0."),
}

const logs = {
  lag: gauge("altar.log.lag", "Entries of a log that no published checkpoint covers yet."),
  uncoveredAge: gauge("altar.log.uncovered.age.seconds", "Observed age of the oldest of these.", "s"),
  checkpointAge: gauge("altar.log.checkpoint.age.seconds", "Age of the newest checkpoint.", "s"),
  running: gauge("altar.log.running", "1 while a log runs, 0 while it is stopped."),
}

const etherOf = (wei: bigint) => Number(wei) / 1e18

const bit = (is: boolean) => (is ? 1 : 0)

/** Updates the gauges with the values found. A gauge without a value is removed instead of keeping its old one. */
const showing = <Name extends string, E>(
  gauges: Readonly<Record<Name, Metric.Gauge<number>>>,
  ask: Effect.Effect<Readonly<Partial<Record<Name, number>>>, E>,
  unanswered?: Readonly<Partial<Record<Name, number>>>,
) =>
  ask.pipe(
    Effect.timeout("5 seconds"),
    Effect.catchCause(() => Effect.succeed(unanswered)),
    Effect.flatMap((values) =>
      Effect.forEach(
        Record.toEntries(gauges),
        ([name, gauge]) => {
          const value = values?.[name]
          return value === undefined ? Metric.remove(gauge) : Metric.update(gauge, value)
        },
        { discard: true },
      ),
    ),
  )

/** Seconds since the position of a queue last moved: a moving queue is busy, a still one is stuck. */
const secondsStill = () => {
  let before = { place: -1, since: 0 }
  return (place: number, isWaiting: boolean) =>
    Effect.map(Clock.currentTimeMillis, (now) => {
      if (!isWaiting || before.place !== place) before = { place, since: now }
      return (now - before.since) / 1000
    })
}

export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const attempts = yield* Lookup
    const node = yield* NodeWatch
    const availability = yield* Availability
    const clock = yield* DatabaseClock
    const chain = yield* WitnessChain
    const log = yield* PublishedLog
    const minedStands = secondsStill()

    const askNode = Effect.gen(function* () {
      const state = yield* node.now
      if (Option.isNone(state)) return {}
      const { headAgeSeconds, relayer } = state.value
      const seen = { up: 1, headAge: headAgeSeconds }
      if (Option.isNone(relayer)) return seen
      const { balanceWei, mined, waiting } = relayer.value
      return { ...seen, balance: etherOf(balanceWei), waiting, unminedAge: yield* minedStands(mined, waiting > 0) }
    })

    const coverStands = secondsStill()
    const askLog = Effect.gen(function* () {
      if (Option.isNone(log.identity)) return {}
      const running = bit((yield* log.state).state !== "stopped")
      const { sequence } = yield* chain.head
      // Before the first checkpoint nothing is covered, which is no fault of the chain.
      const published = yield* Effect.catchTag(Effect.asSome(log.checkpoint), "NotPublished", () => Effect.succeedNone)
      const size = Option.match(published, { onNone: () => 0, onSome: (checkpoint) => checkpoint.size })
      const uncoveredAge = yield* coverStands(size, sequence > size)
      const values = { running, lag: Math.max(0, sequence - size), uncoveredAge }
      if (Option.isNone(published)) return values
      const age = (yield* Clock.currentTimeMillis) - published.value.at.getTime()
      return { ...values, checkpointAge: age / 1000 }
    }).pipe(Effect.catchTag("LogStopped", () => Effect.succeed({ running: 0 })))

    const askChains = chain.head.pipe(
      Effect.map(({ sequence }) => ({ head: sequence, whole: 1 })),
      Effect.catchTag("ChainBroken", () => Effect.succeed({ whole: 0 })),
    )

    yield* Effect.all(
      [
        showing(
          database,
          Effect.map(attempts.counts, (counts) => ({ ...counts, databaseUp: 1 })),
          { databaseUp: 0 },
        ),
        showing(
          clocks,
          Effect.map(clock.now, ({ aheadMillis }) => ({ ahead: aheadMillis / 1000 })),
        ),
        showing(
          sales,
          Effect.map(availability.state, ({ pausedSince, settlement }) => ({
            paused: bit(Option.isSome(pausedSince)),
            taken: bit(settlement !== "failing"),
          })),
        ),
        showing(
          relayers,
          Effect.map(attempts.gasLostEther, (gasLost) => ({ gasLost })),
        ),
        showing(nodes, askNode, { up: 0 }),
        showing(chains, askChains),
        showing(logs, askLog),
      ],
      { concurrency: "unbounded", discard: true },
    ).pipe(Effect.withTracerEnabled(false), Effect.repeat(Schedule.spaced(every)), Effect.forkScoped)
  }),
)
