/** Counts of attempts for monitoring, read from indexes only. */
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { rowsOf, Whole } from "../../platform/Rows.ts"

const countsOf = rowsOf(
  "payment_attempts",
  Schema.Struct({
    pending: Whole,
    /** Seconds since the oldest pending attempt was accepted, by the database's clock; 0 without one. */
    oldestSeconds: Schema.Finite,
    settled: Whole,
    /** Lost in a reorganisation and not acknowledged. */
    lost: Whole,
    unfinal: Whole,
    /** Connections of all servers to this database: active and idle. */
    connectionsUsed: Whole,
    connectionsIdle: Whole,
  }),
)

export class AttemptCounts extends Context.Service<AttemptCounts>()("spirit-altar/payments/store/AttemptCounts", {
  make: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const rows = countsOf(sql`
      SELECT open.pending, open.oldest_seconds,
        (SELECT settled FROM payment_totals WHERE id = 1) AS settled,
        (SELECT count(*) FROM payment_attempts WHERE finality = 'lost' AND acknowledged_at IS NULL) AS lost,
        (SELECT count(*) FROM payment_attempts
          WHERE state = 'settled' AND finality = 'pending' AND rail = 'x402') AS unfinal,
        busy.connections_used, busy.connections_idle
      FROM (
        SELECT count(*) AS pending,
          coalesce(extract(epoch FROM now() - min(accepted_at)), 0)::float8 AS oldest_seconds
        FROM payment_attempts WHERE state = 'pending'
      ) AS open, (
        SELECT count(*) FILTER (WHERE state <> 'idle') AS connections_used,
          count(*) FILTER (WHERE state = 'idle') AS connections_idle
        FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'spirit-altar'
      ) AS busy`)
    return {
      now: Effect.flatMap(rows, ([row]) =>
        row === undefined ? Effect.die("the database counted nothing") : Effect.succeed(row),
      ),
    }
  }),
}) {
  static readonly layer = Layer.effect(this, this.make)
}
