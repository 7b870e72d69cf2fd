/** Whether anything is sold now: an operator pauses and resumes it for all servers of the database. */
import { Context, Duration, Effect, Layer, Option, Ref, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { rowsOf } from "../../platform/Rows.ts"

/** How long an answer is believed, so that no request pays a round trip of its own for it. */
const believedFor = Duration.seconds(2)

const pausesOf = rowsOf("payment_pause", Schema.Struct({ reason: Schema.NullOr(Schema.String) }))

export class Selling extends Context.Service<Selling>()("spirit-altar/payments/ledger/Selling", {
  make: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const known = yield* Ref.make(Option.none<string>())

    // A database that is away stops a purchase where it matters: what was known last is believed meanwhile.
    /** Why nothing is sold, in the operator's words; none while all is sold. At most two seconds old while the database answers. */
    const paused = yield* sql`SELECT reason FROM payment_pause WHERE id = 1`.pipe(
      pausesOf,
      Effect.map(([row]) => Option.fromNullishOr(row?.reason)),
      Effect.tap((found) => Ref.set(known, found)),
      Effect.catchTag("SqlError", () => Ref.get(known)),
      // Everybody waits for the one question: one that stays without an answer must not stop all sales.
      Effect.timeoutOrElse({ duration: believedFor, orElse: () => Ref.get(known) }),
      Effect.uninterruptible,
      Effect.cachedWithTTL(believedFor),
    )

    /** Answers whether it was sold before. */
    const pause = Effect.fn("Selling.pause")((reason: string) =>
      Effect.map(
        sql`UPDATE payment_pause SET reason = ${reason}, since = clock_timestamp()
          WHERE id = 1 AND reason IS NULL RETURNING id`,
        (rows) => rows.length > 0,
      ),
    )

    /** Answers whether it was paused before. */
    const resume = Effect.map(
      sql`UPDATE payment_pause SET reason = NULL, since = NULL WHERE id = 1 AND reason IS NOT NULL RETURNING id`,
      (rows) => rows.length > 0,
    ).pipe(Effect.withSpan("Selling.resume"))

    return { paused, pause, resume }
  }),
}) {
  static readonly layer = Layer.effect(this, this.make)
}
