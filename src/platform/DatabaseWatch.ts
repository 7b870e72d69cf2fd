/** Reports a database outage and its end once each, however many requests and sweeps notice. */
import { Cause, Context, type Duration, Effect, Layer, Redacted, Ref, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { isAway, missingGrant, reasonIn, roleOf } from "./Sql.ts"
import { lasting } from "./Lasting.ts"
import { log, type LogMessage } from "./LogMessages.ts"

/** Pause between two checks whether an unreachable database answers again. */
const askedEvery = "1 second"

/** Reports failed work. */
type Report = (
  what: LogMessage,
  fields: Readonly<Record<string, unknown>>,
  cause: Cause.Cause<unknown>,
) => Effect.Effect<void>

/** A missing privilege is explained by one sentence, so its report omits the stack. */
const faultOf =
  (role: string): Report =>
  (what, fields, cause) => {
    const grant = missingGrant(cause, role)
    return grant === undefined
      ? log(what, fields, cause)
      : log(what, { ...fields, reason: `${grant}, or have the owner run the grants of the guide (Roles)` })
  }

const Reporter = Context.Reference<Report>("spirit-altar/platform/DatabaseWatch", {
  defaultValue: () => faultOf("of DATABASE_URL"),
})

/** Logs why work failed, except while the database is away, which is reported once. */
export const failed =
  (what: LogMessage, fields: Readonly<Record<string, unknown>> = {}) =>
  (cause: Cause.Cause<unknown>): Effect.Effect<void> =>
    Effect.flatMap(Reporter, (report) => report(what, fields, cause))

/** Reports why repeated work fails as a lasting trouble, which its next success ends. */
export const watched = (what: LogMessage) => {
  const trouble = lasting()
  return <A, E, R>(work: Effect.Effect<A, E, R>, fields: Readonly<Record<string, unknown>> = {}) =>
    work.pipe(
      Effect.tap(trouble.ends),
      Effect.tapCause((cause) => {
        const report = failed(what, fields)(cause)
        return isAway(cause) ? report : trouble.goesOn(Cause.pretty(cause).split("\n", 1).join(""), report)
      }),
    )
}

/** Sweeps periodically in the current scope. A full sweep is followed by the next one without a pause. */
export const sweeping = <E, R>(
  sweep: Effect.Effect<number, E, R>,
  every: Duration.Input,
  what: LogMessage,
  full = Infinity,
) =>
  watched(what)(Effect.repeat(sweep, { while: (taken) => taken === full })).pipe(
    Effect.ignoreCause,
    Effect.repeat(Schedule.spaced(every)),
    Effect.forkScoped,
  )

export const layer = (url: Redacted.Redacted<string>) =>
  Layer.effect(
    Reporter,
    Effect.gen(function* () {
      const fault = faultOf(roleOf(Redacted.value(url)))
      const sql = yield* SqlClient.SqlClient
      const scope = yield* Effect.scope
      const isKnownAway = yield* Ref.make(false)

      const untilBack = sql`SELECT 1`.pipe(
        Effect.timeout("5 seconds"),
        Effect.retry(Schedule.spaced(askedEvery)),
        Effect.andThen(Ref.set(isKnownAway, false)),
        Effect.andThen(log("database reachable")),
        Effect.withTracerEnabled(false),
      )

      const away = Effect.fnUntraced(function* (cause: Cause.Cause<unknown>) {
        if (yield* Ref.getAndSet(isKnownAway, true)) return
        yield* log("database unreachable", { reason: reasonIn(cause) })
        yield* Effect.forkIn(Effect.ignore(untilBack), scope)
      })

      return (what, fields, cause) => (isAway(cause) ? away(cause) : fault(what, fields, cause))
    }),
  )
