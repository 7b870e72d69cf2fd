/** Failed attempts whose authorization may still be brought to the chain: which are due to be looked at. */
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { readable } from "../../platform/Rows.ts"
import { retryConflicts } from "../../platform/Sql.ts"
import { type Attempt, attemptColumns, readAttempt } from "./Attempt.ts"

export class AliveAttempts extends Context.Service<
  AliveAttempts,
  {
    /** Takes what is due, for a minute; any number of servers may ask at once. */
    lease(limit: number): Effect.Effect<{ readonly taken: number; readonly attempts: ReadonlyArray<Attempt> }>
    /** Its authorization has ended, and what it paid late is noted: nobody looks at it any more. */
    end(id: string): Effect.Effect<void>
  }
>()("spirit-altar/payments/ledger/AliveAttempts") {
  static readonly layer = Layer.effect(
    AliveAttempts,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient

      const lease = Effect.fn("AliveAttempts.lease")(function* (limit: number) {
        const rows = yield* retryConflicts(sql`
          UPDATE payment_attempts SET next_check_at = now() + interval '1 minute'
          WHERE id IN (
            SELECT id FROM payment_attempts WHERE state = 'failed' AND is_alive AND next_check_at <= now()
            ORDER BY next_check_at LIMIT ${limit}::int FOR UPDATE SKIP LOCKED)
          RETURNING ${sql.literal(attemptColumns)}`).pipe(Effect.orDie)
        return { taken: rows.length, attempts: yield* readable(rows, readAttempt) }
      })

      const end = Effect.fn("AliveAttempts.end")((id: string) =>
        retryConflicts(sql`UPDATE payment_attempts SET is_alive = false WHERE id = ${id}::uuid`).pipe(
          Effect.orDie,
          Effect.asVoid,
        ),
      )

      return AliveAttempts.of({ lease, end })
    }),
  )
}
