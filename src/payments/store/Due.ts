/** Leases attempts that are due for an inquiry, and schedules the next one. */
import { Context, Effect, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import { retryConflicts } from "../../platform/Sql.ts"
import { readable } from "../../platform/Rows.ts"
import { madeIn, type Rail } from "../Payment.ts"
import { type Attempt, attemptColumns, readAttempt, setVerdict } from "./Attempt.ts"

export interface OpenInquiry {
  /** The transaction or intent that the outcome depends on. */
  readonly reference: Option.Option<string>
  /** A facilitator's refusal in this inquiry; null if it was asked and did not refuse, absent if none was asked. */
  readonly refusal?: string | null | undefined
  /** The reason to fail if the next inquiry agrees; null if the attempt is open, absent without an answer. */
  readonly verdict?: string | null | undefined
}

export class Sweep extends Context.Service<Sweep>()("spirit-altar/payments/store/Due", {
  make: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient

    // The database's clock, since the clocks of servers differ.
    const inMillis = (millis: number) => sql`now() + ${millis}::float8 * interval '1 millisecond'`

    /** Leases attempts of a rail that are due within `aheadMillis`. Any number of servers may lease concurrently. */
    const lease = Effect.fn("Sweep.lease")(function* (
      rail: Rail,
      limit: number,
      aheadMillis: number,
      leaseMillis: number,
    ) {
      const rows = yield* retryConflicts(sql`
        UPDATE payment_attempts SET next_check_at = ${inMillis(leaseMillis)}
        WHERE id IN (
          SELECT id FROM payment_attempts
          WHERE state = 'pending' AND rail = ${rail} AND next_check_at <= ${inMillis(aheadMillis)}
          ORDER BY next_check_at LIMIT ${limit}::int FOR UPDATE SKIP LOCKED)
        RETURNING ${sql.literal(attemptColumns)}`)
      return { taken: rows.length, attempts: yield* readable(rows, readAttempt) }
    })

    /**
     * Stores an open outcome, the inquiry's findings, and the time of the next inquiry. An inquiry beside the lease
     * (`isBeside`) never postpones that time, and only a reason to fail brings it forward.
     */
    const defer = Effect.fn("Sweep.defer")(function* (
      { id, payment, state }: Attempt,
      { reference, refusal, verdict }: OpenInquiry,
      pauseMillis: number,
      isBeside: boolean,
    ) {
      const until = inMillis(pauseMillis)
      const soonest = typeof verdict === "string" ? sql`least(next_check_at, ${until})` : sql`next_check_at`
      const next = isBeside ? soonest : until
      const made = state === "pending" ? Option.map(reference, (one) => madeIn(payment.rail, one)) : Option.none()
      const refused = refusal === undefined ? sql.literal("") : sql`, refusal = ${refusal}::text`
      const judged = verdict === undefined ? sql.literal("") : sql`, ${setVerdict(verdict)}`
      yield* sql`
        UPDATE payment_attempts SET checks = checks + 1, next_check_at = ${next},
          payment = payment || ${JSON.stringify(Option.getOrElse(made, () => ({})))}::jsonb
          ${refused}${judged}
        WHERE id = ${id}::uuid AND state = ${state} AND finality = 'pending'`
    })

    return { lease, defer }
  }),
}) {
  static readonly layer = Layer.effect(this, this.make)
}
