/** `/api/health`, `/livez` and `/readyz`: checks of all parts, shared by concurrent callers and answered in two seconds. */
import { Effect, Option, Result } from "effect"
import { HttpApiBuilder, HttpApiSchema } from "effect/http-api"
import { SqlClient, SqlError } from "effect/sql"
import { Api } from "../../schema/Api.ts"
import type { Health, LogHealth, Readiness } from "../../schema/Health.ts"
import { interfaceVersion } from "../../schema/Version.ts"
import { modes } from "../../schema/room/Message.ts"
import { Reveals } from "../altar/Reveals.ts"
import { WitnessChain } from "../altar/witness/WitnessChain.ts"
import { PublishedLog } from "../log/PublishedLog.ts"
import { gasLossMaximum, Lookup } from "../payments/store/Lookup.ts"
import { PaymentTerms } from "../payments/PaymentTerms.ts"
import { Availability, type AvailabilityState, unasked } from "../payments/Availability.ts"
import { DatabaseClock, isFarOff, type Reading } from "../platform/DatabaseClock.ts"
import { commit, version } from "../platform/Software.ts"
import { soon } from "../platform/Time.ts"

/** A 503 with `Retry-After`. */
const no = <State>(body: State) => Effect.fail(HttpApiSchema.withHeaders({ body, headers: { "retry-after": "5" } }))

/** A check that fails or times out is a result here, not an error. */
const check = <A, E>(part: Effect.Effect<A, E>) => Effect.result(soon(Effect.catchDefect(part, Effect.fail)))

const isUnanswered = (failure: unknown) =>
  SqlError.isSqlError(failure) ||
  (typeof failure === "object" && failure !== null && "_tag" in failure && failure._tag === "TimeoutError")

/** A wrong answer is a failure. A missing one is unknown. */
const stateOf = Result.match({
  onFailure: (failure: unknown) => (isUnanswered(failure) ? "unknown" : "failing"),
  onSuccess: () => "ok" as const,
})

/** A clock that could not be compared is unknown. */
const clockState = (time: Result.Result<Reading, unknown>): "unknown" | "failing" | "ok" =>
  Result.isFailure(time) ? "unknown" : isFarOff(time.success) ? "failing" : "ok"

const sellingState = ({ isWritable, pausedSince, settlement }: AvailabilityState): "paused" | "failing" | "ready" =>
  Option.isSome(pausedSince) ? "paused" : settlement === "failing" || !isWritable ? "failing" : "ready"

/** Rows that need more memory than the statement may use, so that they are written to a temporary file. */
const diskRows = 20_000

/**
 * Whether the database can still create files: a full disk lets reads and small changes pass and fails purchases. It
 * writes about half a megabyte and deletes it.
 */
const diskCheck = Effect.map(SqlClient.SqlClient, (sql) =>
  sql.withTransaction(
    Effect.andThen(sql`SET LOCAL work_mem = '64kB'`, sql`SELECT count(*) FROM generate_series(1, ${diskRows}::int)`),
  ),
)

export const handlers = HttpApiBuilder.group(Api, "service", (handlers) =>
  Effect.gen(function* () {
    const chain = yield* WitnessChain
    const attempts = yield* Lookup
    const terms = yield* PaymentTerms
    const reveals = yield* Reveals
    const published = yield* PublishedLog
    const availability = yield* Availability
    const databaseClock = yield* DatabaseClock
    const disk = yield* diskCheck
    const enabled = terms._tag === "Ready"

    /** The state of the log; nothing if this server has none. */
    const log = Effect.gen(function* () {
      if (Option.isNone(published.identity)) return {}
      return {
        log: Result.match(yield* check(published.state), {
          onFailure: (): LogHealth => ({ state: "unknown", waitsFor: null, since: null }),
          onSuccess: (state): LogHealth => state,
        }),
      }
    })

    /** The part that health and readiness share. Readiness for reads asks only the database. */
    const shared = Effect.fnUntraced(function* (toSell: boolean) {
      const [pending, time, sales, logPart] = yield* Effect.all(
        [check(attempts.pending), check(databaseClock.now), toSell ? availability.state : Effect.succeed(unasked), log],
        { concurrency: "unbounded" },
      )
      return { ...sales, clock: clockState(time), logPart, pending, selling: sellingState(sales) }
    })

    const health = Effect.gen(function* () {
      const [head, words, lost, gas, files, part] = yield* Effect.all(
        [
          check(chain.head),
          check(reveals.state),
          check(attempts.lost),
          check(attempts.gasLostEther),
          check(disk),
          shared(true),
        ],
        { concurrency: "unbounded" },
      )
      const { clock, isWritable, logPart, obstacle = null, pausedSince, pending, selling, settlement } = part
      const isAnyLost = Result.getOrElse(lost, () => 0) > 0
      const isAnswering = [files, pending, lost, head, words].every(({ _tag }) => _tag === "Success")
      return {
        ok: isAnswering && isWritable && !isAnyLost && selling !== "failing" && clock !== "failing",
        version,
        interface: interfaceVersion,
        commit,
        database: Result.isSuccess(pending) && Result.isSuccess(files) && isWritable ? "ok" : "failing",
        clock,
        chain: { state: stateOf(head), head: Result.getOrNull(head) },
        reveals: stateOf(words),
        payments: {
          enabled,
          state: isAnyLost ? "failing" : !enabled ? "not_configured" : Result.isFailure(lost) ? "unknown" : selling,
          pausedSince: Option.getOrNull(pausedSince),
          pending: Result.getOrNull(pending),
          settlement,
          gasLost: {
            state: stateOf(
              Result.filterOrFail(
                gas,
                (ether) => ether < gasLossMaximum,
                () => "too much",
              ),
            ),
            lastHourEther: Result.getOrNull(Result.map(gas, (ether) => ether.toFixed(9))),
          },
          obstacle,
        },
        ...logPart,
        modes,
      } satisfies typeof Health.Type
    })

    const readiness = Effect.fnUntraced(function* (toSell: boolean) {
      const { clock, isWritable, logPart, pending, selling, settlement } = yield* shared(toSell)
      const isAnswering = Result.isSuccess(pending) && isWritable
      return {
        ready: isAnswering && (!toSell || (selling === "ready" && clock !== "failing")),
        state: "serving",
        database: isAnswering ? "ok" : "failing",
        clock,
        payments: !enabled ? "not_configured" : toSell ? selling : "unknown",
        settlement,
        ...logPart,
      } satisfies typeof Readiness.Type
    })

    // A caller joins the checks that run, since a second round would take it beyond its two seconds.
    const healthNow = yield* Effect.cachedWithTTL(health, 0)
    const readyToSell = yield* Effect.cachedWithTTL(readiness(true), 0)
    const readyToRead = yield* Effect.cachedWithTTL(readiness(false), 0)

    return handlers
      .handle("health", () => Effect.filterOrElse(healthNow, ({ ok }) => ok, no))
      .handle("livez", () => Effect.succeed({ alive: true } as const))
      .handle("readyz", ({ query }) =>
        Effect.filterOrElse(query.for === undefined ? readyToSell : readyToRead, ({ ready }) => ready, no),
      )
  }),
)
