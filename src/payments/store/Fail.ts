/** Ends attempts as unpaid. Slots and numbers are given back; the authorization stays bound for ever. */
import { Context, Effect, Layer } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { part, transaction } from "../../platform/Sql.ts"
import { reportChange } from "../Changes.ts"
import { bindingPattern } from "../Payment.ts"
import { attemptColumns, type Doubt, readAttempt } from "./Attempt.ts"

export class Fail extends Context.Service<Fail>()("spirit-altar/payments/store/Fail", {
  make: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const inTransaction = yield* transaction

    /**
     * Ends a pending attempt where the condition holds, and returns the attempt as it is then. The lock makes the
     * statement see every broadcast that was recorded, since recording one locks the same row.
     */
    const end = Effect.fnUntraced(function* (id: string, reason: string, condition: Statement.Fragment) {
      yield* sql`SELECT id FROM payment_attempts WHERE id = ${id}::uuid FOR UPDATE`
      const ended = yield* sql`
        WITH ended AS (
          -- A server that stopped after a broadcast left the transaction with the relayer alone.
          UPDATE payment_attempts SET state = 'failed', reason = ${reason}, ended_at = now(),
            payment = COALESCE((SELECT jsonb_build_object('transaction', hash) FROM relayer_broadcasts
              WHERE attempt_id = ${id}::uuid), '{}') || payment - 'token'
          WHERE id = ${id}::uuid AND state = 'pending' AND ${condition} RETURNING id, pool, pool_number
        ), released AS (
          UPDATE payment_pools p
          SET released = (SELECT array_agg(n ORDER BY n) FROM unnest(p.released || e.pool_number) AS n)
          FROM ended e WHERE p.name = e.pool RETURNING p.name
        ), freed AS (
          -- Reading "released" locks the pool before the names, in the order of a claim.
          DELETE FROM payment_claims c USING ended e LEFT JOIN released r ON r.name = e.pool
          WHERE c.attempt_id = e.id AND c.name !~ ${bindingPattern}
        )
        SELECT id FROM ended`
      const [row] = yield* sql`SELECT ${sql.literal(attemptColumns)} FROM payment_attempts WHERE id = ${id}::uuid`
      const attempt = row === undefined ? yield* Effect.die(`attempt ${id} is gone`) : yield* readAttempt(row)
      return { attempt, isOurs: ended.length > 0 }
    })

    /** Reports the failure from the server that committed it. */
    const committed = Effect.fnUntraced(function* (ending: ReturnType<typeof end>) {
      const { attempt, isOurs } = yield* inTransaction(ending)
      if (isOurs && attempt.state === "failed")
        yield* reportChange({ ...attempt, from: "pending", to: "failed", evidence: attempt.reason })
      return attempt
    })

    /** Ends an attempt, or returns one that has already ended. With a doubt, only while that doubt is unchanged. */
    const fail = Effect.fn("Fail.fail")((id: string, reason: string, doubt?: Doubt) => {
      const agreed =
        doubt === undefined
          ? part`true`
          : part`doubted_reason = ${doubt.reason}::text AND doubted_at = ${doubt.at}::timestamptz`
      return committed(end(id, reason, agreed))
    })

    /** Ends an attempt that was never sent, only while no server has recorded a broadcast. */
    const failUnsent = Effect.fn("Fail.failUnsent")((id: string, reason: string) =>
      committed(end(id, reason, part`NOT EXISTS (SELECT 1 FROM relayer_broadcasts WHERE attempt_id = ${id}::uuid)`)),
    )

    return { fail, failUnsent }
  }),
}) {
  static readonly layer = Layer.effect(this, this.make)
}
