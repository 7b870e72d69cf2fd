/** Which pending attempts are to be inquired about, by whom, and when again. */
import { Clock, Context, Effect, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import { retryConflicts } from "../../platform/Sql.ts"
import { readable } from "../../platform/Rows.ts"
import { timestampOf } from "../../platform/Time.ts"
import type { Rail } from "../Payment.ts"
import { type Attempt, attemptColumns, readAttempt, setVerdict } from "./Attempt.ts"

/** What an inquiry that ended nothing leaves for the next one. */
export interface OpenInquiry {
  /** What the outcome hangs on: a transaction or an intent. */
  readonly reference: Option.Option<string>
  /** What a facilitator refused it with just now; null when somebody was asked and did not, absent when nobody was. */
  readonly refusal?: string | null | undefined
  /** Why it fails if the next inquiry says the same; null when it is open, absent when nobody could be asked. */
  readonly verdict?: string | null | undefined
}

export class Sweep extends Context.Service<
  Sweep,
  {
    /** Takes attempts of a rail that are due before `beforeMillis`, for `leaseMillis`; any number of servers may ask at once. */
    lease(
      rail: Rail,
      limit: number,
      beforeMillis: number,
      leaseMillis: number,
    ): Effect.Effect<{ readonly taken: number; readonly attempts: ReadonlyArray<Attempt> }>
    /**
     * Notes that the outcome is still open, what this inquiry left, and when to ask again. Who has only looked beside the one
     * that took it never puts that off, and brings it forward only by what would fail it.
     */
    defer(id: string, inquiry: OpenInquiry, untilMillis: number, isBeside: boolean): Effect.Effect<void>
    /** Keeps what was taken from all others for so long, before it is handed in; false if somebody has looked at it since. */
    hold(attempt: Attempt, holdMillis: number): Effect.Effect<boolean>
  }
>()("spirit-altar/payments/ledger/Sweep") {
  static readonly layer = Layer.effect(
    Sweep,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient

      const lease = Effect.fn("Sweep.lease")(function* (
        rail: Rail,
        limit: number,
        beforeMillis: number,
        leaseMillis: number,
      ) {
        const now = yield* Clock.currentTimeMillis
        const rows = yield* retryConflicts(sql`
          UPDATE payment_attempts SET next_check_at = ${timestampOf(now + leaseMillis)}::timestamptz
          WHERE id IN (
            SELECT id FROM payment_attempts
            WHERE state = 'pending' AND rail = ${rail} AND next_check_at <= ${timestampOf(beforeMillis)}::timestamptz
            ORDER BY next_check_at LIMIT ${limit}::int FOR UPDATE SKIP LOCKED)
          RETURNING ${sql.literal(attemptColumns)}`).pipe(Effect.orDie)
        return { taken: rows.length, attempts: yield* readable(rows, readAttempt) }
      })

      const defer = Effect.fn("Sweep.defer")(function* (
        id: string,
        { reference, refusal, verdict }: OpenInquiry,
        untilMillis: number,
        isBeside: boolean,
      ) {
        const until = sql`${timestampOf(untilMillis)}::timestamptz`
        const soonest = typeof verdict === "string" ? sql`least(next_check_at, ${until})` : sql`next_check_at`
        const next = isBeside ? soonest : until
        const refused = refusal === undefined ? sql.literal("") : sql`, refusal = ${refusal}::text`
        const judged = verdict === undefined ? sql.literal("") : sql`, ${setVerdict(sql, verdict)}`
        yield* sql`
          UPDATE payment_attempts SET checks = checks + 1, next_check_at = ${next},
            transaction = COALESCE(${Option.getOrNull(reference)}::text, transaction)
            ${refused}${judged}
          WHERE id = ${id}::uuid AND state = 'pending'`.pipe(Effect.orDie)
      })

      const hold = Effect.fn("Sweep.hold")(function* ({ checks, id }: Attempt, holdMillis: number) {
        const until = timestampOf((yield* Clock.currentTimeMillis) + holdMillis)
        const rows = yield* retryConflicts(sql`
          UPDATE payment_attempts SET checks = checks + 1, next_check_at = ${until}::timestamptz, ${setVerdict(sql, null)}
          WHERE id = ${id}::uuid AND state = 'pending' AND checks = ${checks}::int RETURNING id`).pipe(Effect.orDie)
        return rows.length > 0
      })

      return Sweep.of({ lease, defer, hold })
    }),
  )
}
