/** Leases attempts that are due for an inquiry, schedules the next one, and records what becomes of settled ones. */
import { Context, Effect, Layer, Option, Schema } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { retryConflicts } from "../../platform/Sql.ts"
import { Moment, readable, rowsOf } from "../../platform/Rows.ts"
import { madeIn, type RailName } from "../Payment.ts"
import { type Attempt, attemptColumns, type Doubt, readAttempt, setDoubt } from "./Attempt.ts"
import type { Hex } from "viem"

export interface OpenInquiry {
  /** The transaction or intent that the outcome depends on. */
  readonly reference: Option.Option<string>
  /** The reason to fail if the next inquiry agrees; null if the attempt is open, absent without an answer. */
  readonly doubt?: string | null | undefined
}

const confirmed = rowsOf(
  "payment_attempts",
  Schema.Struct({ id: Schema.String, act: Schema.String, acceptedAt: Moment, transaction: Schema.String }),
)

export class Due extends Context.Service<Due>()("spirit-altar/payments/store/Due", {
  make: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const its = sql.literal(`t.name = a.authorization_name AND t.pay_to = a.payment #>> '{authorization,to}'
      AND t.amount_atomic = a.amount_atomic`)

    // The database's clock, since the clocks of servers differ.
    const inMillis = (millis: number) => sql`now() + ${millis}::float8 * interval '1 millisecond'`

    /** Leases these attempts. Any number of servers may lease concurrently. */
    const leased = Effect.fnUntraced(function* (due: Statement.Fragment, leaseMillis: number) {
      const rows = yield* retryConflicts(sql`
        UPDATE payment_attempts SET next_check_at = ${inMillis(leaseMillis)} WHERE id IN (${due})
        RETURNING ${sql.literal(attemptColumns)}`)
      return { taken: rows.length, attempts: yield* readable(rows, readAttempt) }
    })

    /** Leases attempts of a rail that are due within `aheadMillis`. */
    const lease = Effect.fn("Due.lease")((rail: RailName, limit: number, aheadMillis: number, leaseMillis: number) =>
      leased(
        sql`SELECT id FROM payment_attempts
          WHERE state = 'pending' AND rail = ${rail} AND next_check_at <= ${inMillis(aheadMillis)}
          ORDER BY next_check_at LIMIT ${limit}::int FOR UPDATE SKIP LOCKED`,
        leaseMillis,
      ),
    )

    /**
     * Stores an open outcome, the inquiry's findings, and the time of the next inquiry. An inquiry beside the lease
     * (`isBeside`) never postpones that time, and only a reason to fail brings it forward.
     */
    const defer = Effect.fn("Due.defer")(function* (
      { id, payment, state }: Attempt,
      { reference, doubt }: OpenInquiry,
      pauseMillis: number,
      isBeside: boolean,
    ) {
      const until = inMillis(pauseMillis)
      const soonest = typeof doubt === "string" ? sql`least(next_check_at, ${until})` : sql`next_check_at`
      const next = isBeside ? soonest : until
      const made = state === "pending" ? Option.map(reference, (name) => madeIn(payment.rail, name)) : Option.none()
      const judged = doubt === undefined ? sql.literal("") : sql`, ${setDoubt(doubt)}`
      yield* sql`
        UPDATE payment_attempts SET checks = checks + 1, next_check_at = ${next},
          payment = payment || ${JSON.stringify(Option.getOrElse(made, () => ({})))}::jsonb
          ${judged}
        WHERE id = ${id}::uuid AND state = ${state} AND finality = 'pending'`
    })

    /** Acts whose transfer the scan has read in a final block become final, wherever it is. */
    const confirmAll = confirmed(
      retryConflicts(sql`
        UPDATE payment_attempts a SET finality = 'final', settled_block = t.block, doubted_at = NULL,
          doubted_reason = NULL,
          current_transaction = CASE WHEN a.transaction <> t.transaction THEN t.transaction END
        FROM (
          -- Each part has an index of its own.
          SELECT id FROM payment_attempts WHERE state = 'settled' AND finality = 'pending' AND rail = 'x402'
          UNION ALL SELECT id FROM payment_attempts WHERE finality = 'lost'
        ) open, chain_transfers t
        WHERE a.id = open.id AND a.finality IN ('pending', 'lost') AND t.is_final AND ${its}
        RETURNING a.id, a.act, a.accepted_at, t.transaction`),
    )

    /** The same for one act, whose transfer a node shows in a final block without its logs. */
    const confirm = Effect.fn("Due.confirm")((id: string, block: bigint, transaction: Hex) =>
      retryConflicts(sql`
        UPDATE payment_attempts SET finality = 'final', settled_block = ${block}::bigint, doubted_at = NULL,
          doubted_reason = NULL,
          current_transaction = CASE WHEN transaction <> ${transaction}::text THEN ${transaction}::text END
        WHERE id = ${id}::uuid AND state = 'settled' AND finality = 'pending' RETURNING id`).pipe(
        Effect.map((rows) => rows.length > 0),
      ),
    )

    /**
     * Leases acts that a scan of their network should have found or made final by now. Their block was replaced, a node
     * forgot it, or they were paid with an earlier token.
     */
    const leaseUnexplained = Effect.fn("Due.leaseUnexplained")((limit: number, leaseMillis: number) =>
      leased(
        sql`SELECT a.id FROM payment_attempts a JOIN LATERAL (
            SELECT max(head_block) AS head, max(final_block) AS final FROM chain_scans
            WHERE network = a.payment ->> 'network') s ON true
          WHERE a.state = 'settled' AND a.finality = 'pending' AND a.rail = 'x402' AND a.next_check_at <= now()
            AND (s.final >= a.settled_block
              OR s.head >= COALESCE(a.settled_block, 0) AND NOT EXISTS (SELECT 1 FROM chain_transfers t WHERE ${its}))
          ORDER BY a.next_check_at LIMIT ${limit}::int FOR UPDATE OF a SKIP LOCKED`,
        leaseMillis,
      ),
    )

    /** Marks an act as lost if the doubt of the earlier inquiry still stands. True for the first server. */
    const lose = Effect.fn("Due.lose")((id: string, { at, reason }: Doubt) =>
      sql`
        UPDATE payment_attempts SET finality = 'lost'
        WHERE id = ${id}::uuid AND state = 'settled' AND finality = 'pending' AND doubted_reason = ${reason}::text
          AND doubted_at = ${at}::timestamptz RETURNING id`.pipe(Effect.map((rows) => rows.length > 0)),
    )

    return { lease, defer, confirmAll, confirm, leaseUnexplained, lose }
  }),
}) {
  static readonly layer = Layer.effect(this, this.make)
}
