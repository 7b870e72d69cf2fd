/** The operator's pause of all sales, for all servers of the database. */
import { Context, Duration, Effect, Layer, Option, Ref, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { rowsOf } from "../../platform/Rows.ts"

/** How long an answer is reused, so that requests pay no round trip for it. */
const believedFor = Duration.seconds(2)

const pausesOf = rowsOf("payment_pause", Schema.Struct({ reason: Schema.NullOr(Schema.String) }))

export class Selling extends Context.Service<Selling>()("spirit-altar/payments/store/Selling", {
  make: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const known = yield* Ref.make(Option.none<string>())

    /**
     * Why nothing is sold, in the operator's words; none while sales are open. At most two seconds old while the
     * database answers. Without the database the last answer holds: a purchase fails later, where the database matters.
     */
    const paused = yield* sql`SELECT reason FROM payment_pause WHERE id = 1`.pipe(
      pausesOf,
      Effect.map(([row]) => Option.fromNullishOr(row?.reason)),
      Effect.tap((found) => Ref.set(known, found)),
      Effect.catchTag("SqlError", () => Ref.get(known)),
      // All callers share the query, so a hanging one must not stop all sales.
      Effect.timeoutOrElse({ duration: believedFor, orElse: () => Ref.get(known) }),
      Effect.uninterruptible,
      Effect.cachedWithTTL(believedFor),
    )

    /** Returns whether sales were open before. */
    const pause = Effect.fn("Selling.pause")((reason: string) =>
      Effect.map(
        sql`UPDATE payment_pause SET reason = ${reason}, since = clock_timestamp()
          WHERE id = 1 AND reason IS NULL RETURNING id`,
        (rows) => rows.length > 0,
      ),
    )

    /** Returns whether sales were paused before. */
    const resume = Effect.map(
      sql`UPDATE payment_pause SET reason = NULL, since = NULL WHERE id = 1 AND reason IS NOT NULL RETURNING id`,
      (rows) => rows.length > 0,
    ).pipe(Effect.withSpan("Selling.resume"))

    return { paused, pause, resume }
  }),
}) {
  static readonly layer = Layer.effect(this, this.make)
}
