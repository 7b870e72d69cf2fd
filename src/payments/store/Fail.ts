/** Ends attempts as unpaid. Slots and numbers are given back; the authorization stays bound for ever. */
import { Context, Effect, Layer } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { retryConflicts, transaction } from "../../platform/Sql.ts"
import { changed } from "../Changes.ts"
import { bindingPattern } from "../Payment.ts"
import { type Attempt, attemptColumns, type FailureVerdict, readAttempt } from "./Attempt.ts"

export class Fail extends Context.Service<Fail>()("spirit-altar/payments/store/Fail", {
  make: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const inTransaction = yield* transaction

    const end = Effect.fnUntraced(function* (id: string, reason: string, agreed: Statement.Fragment) {
      const rows = yield* sql`
        WITH ended AS (
          UPDATE payment_attempts SET state = 'failed', reason = ${reason}, ended_at = now(),
            payment = payment - 'token'
          WHERE id = ${id}::uuid AND state = 'pending' AND ${agreed} RETURNING id, pool, pool_number
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
      return rows.length > 0
    })

    /** Reports the failure from the server that committed it. */
    const told = (isOurs: boolean, attempt: Attempt) =>
      isOurs && attempt.state === "failed"
        ? Effect.as(changed({ ...attempt, from: "pending", to: "failed", evidence: attempt.reason }), attempt)
        : Effect.succeed(attempt)

    const found = Effect.fnUntraced(function* (id: string) {
      const [row] = yield* sql`SELECT ${sql.literal(attemptColumns)} FROM payment_attempts WHERE id = ${id}::uuid`
      return row === undefined ? yield* Effect.die(`attempt ${id} is gone`) : yield* readAttempt(row)
    })

    /**
     * Ends an attempt, or returns one that has already ended. With a verdict, only while that verdict is unchanged.
     */
    const fail = Effect.fn("Fail.fail")((id: string, reason: string, verdict?: FailureVerdict) => {
      const agreed =
        verdict === undefined
          ? sql.literal("true")
          : sql`doubted_reason = ${verdict.reason}::text AND doubted_at = ${verdict.at}::timestamptz`
      return retryConflicts(end(id, reason, agreed)).pipe(
        Effect.flatMap((isOurs) => Effect.flatMap(found(id), (attempt) => told(isOurs, attempt))),
      )
    })

    /**
     * Ends an attempt that was never sent, only while no server has recorded a broadcast. With `isUnseen`, only before
     * its first inquiry ends: until then only the request itself submits to a facilitator.
     */
    const failUnsent = Effect.fn("Fail.failUnsent")((id: string, reason: string, isUnseen: boolean) => {
      const unsent = sql`NOT EXISTS (SELECT 1 FROM relayer_broadcasts WHERE attempt_id = ${id}::uuid)
        AND (checks = 0 OR NOT ${isUnseen}::boolean)`
      // Recording a broadcast locks the same row, so the query after this lock sees it.
      const lock = sql`SELECT id FROM payment_attempts WHERE id = ${id}::uuid FOR UPDATE`
      const ending = lock.pipe(
        Effect.andThen(end(id, reason, unsent)),
        Effect.flatMap((isOurs) => Effect.map(found(id), (attempt) => ({ attempt, isOurs }))),
      )
      return inTransaction(ending).pipe(Effect.flatMap(({ attempt, isOurs }) => told(isOurs, attempt)))
    })

    return { fail, failUnsent }
  }),
}) {
  static readonly layer = Layer.effect(this, this.make)
}
