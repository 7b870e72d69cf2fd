/** Which attempts are to be inquired about, by whom, and when again: pending ones, and failed ones that may still be paid. */
import { Clock, Context, Effect, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import { retryConflicts } from "../../platform/Sql.ts"
import { readable } from "../../platform/Rows.ts"
import { timestampOf } from "../../platform/Time.ts"
import type { Rail } from "../Payment.ts"
import { type Attempt, attemptColumns, readAttempt, setVerdict } from "./Attempt.ts"

export interface OpenInquiry {
  /** What the outcome hangs on: a transaction or an intent. */
  readonly reference: Option.Option<string>
  /** What a facilitator refused it with just now; null when somebody was asked and did not, absent when nobody was. */
  readonly refusal?: string | null | undefined
  /** Why it fails if the next inquiry says the same; null when it is open, absent when nobody could be asked. */
  readonly verdict?: string | null | undefined
}

export class Sweep extends Context.Service<Sweep>()("spirit-altar/payments/ledger/Sweep", {
  make: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient

    /** Takes attempts of a rail that are due before `beforeMillis`, for `leaseMillis`; any number of servers may ask at once. */
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

    /**
     * Notes that the outcome is still open, what this inquiry left, and when to ask again. Who has only looked beside the one
     * that took it never puts that off, and brings it forward only by what would fail it.
     */
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
      const judged = verdict === undefined ? sql.literal("") : sql`, ${setVerdict(verdict)}`
      yield* sql`
        UPDATE payment_attempts SET checks = checks + 1, next_check_at = ${next},
          transaction = COALESCE(${Option.getOrNull(reference)}::text, transaction)
          ${refused}${judged}
        WHERE id = ${id}::uuid AND state = 'pending'`.pipe(Effect.orDie)
    })

    /** Keeps what was taken from all others for so long, before it is handed in; false if somebody has looked at it since. */
    const hold = Effect.fn("Sweep.hold")(function* ({ checks, id }: Attempt, holdMillis: number) {
      const until = timestampOf((yield* Clock.currentTimeMillis) + holdMillis)
      const rows = yield* retryConflicts(sql`
        UPDATE payment_attempts SET checks = checks + 1, next_check_at = ${until}::timestamptz, ${setVerdict(null)}
        WHERE id = ${id}::uuid AND state = 'pending' AND checks = ${checks}::int RETURNING id`).pipe(Effect.orDie)
      return rows.length > 0
    })

    /** Takes failed attempts that are due and whose authorization may still be brought to the chain, for a minute. */
    const leaseAlive = Effect.fn("Sweep.leaseAlive")(function* (limit: number) {
      const rows = yield* retryConflicts(sql`
        UPDATE payment_attempts SET next_check_at = now() + interval '1 minute'
        WHERE id IN (
          SELECT id FROM payment_attempts WHERE state = 'failed' AND is_alive AND next_check_at <= now()
          ORDER BY next_check_at LIMIT ${limit}::int FOR UPDATE SKIP LOCKED)
        RETURNING ${sql.literal(attemptColumns)}`).pipe(Effect.orDie)
      return { taken: rows.length, attempts: yield* readable(rows, readAttempt) }
    })

    /** Its authorization has ended, and what it paid late is noted: nobody looks at it any more. */
    const endAlive = Effect.fn("Sweep.endAlive")((id: string) =>
      retryConflicts(sql`UPDATE payment_attempts SET is_alive = false WHERE id = ${id}::uuid`).pipe(
        Effect.orDie,
        Effect.asVoid,
      ),
    )

    return { lease, defer, hold, leaseAlive, endAlive }
  }),
}) {
  static readonly layer = Layer.effect(this, this.make)
}
