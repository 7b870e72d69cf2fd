/** The database's clock, shared by all servers. It judges payment windows; no server's own clock does. */
import { Clock, Context, Duration, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import * as Batcher from "./Batcher.ts"
import { rowsOf } from "./Rows.ts"
import { bounded, toMiddleware } from "./Sql.ts"

/** Maximum difference to the database's clock at which a server is ready to sell. */
export const clockTolerance = Duration.seconds(30)

export interface Reading {
  /** Milliseconds since 1970, by the database. */
  readonly millis: number
  /** Milliseconds by which this server's clock is ahead. */
  readonly aheadMillis: number
}

/** How long a comparison of the two clocks is reused, in milliseconds. */
const comparedFor = 5_000

export const isFarOff = ({ aheadMillis }: Reading) => Math.abs(aheadMillis) > Duration.toMillis(clockTolerance)

const timesOf = rowsOf("clock_timestamp", Schema.Struct({ now: Schema.Date }))

export class DatabaseClock extends Context.Service<DatabaseClock>()("spirit-altar/platform/DatabaseClock", {
  make: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient

    const reading = Effect.gen(function* () {
      const before = yield* Clock.currentTimeMillis
      const [row] = yield* timesOf(sql`SELECT clock_timestamp() AS now`)
      if (row === undefined) return yield* Effect.die("SELECT clock_timestamp() returned no row")
      // The answer is from a moment between the two readings of our clock.
      const here = (before + (yield* Clock.currentTimeMillis)) / 2
      const millis = row.now.getTime()
      return { millis, aheadMillis: here - millis } satisfies Reading
    }).pipe(bounded, toMiddleware)

    /** Reads the clock. Concurrent callers share a reading that starts after their call. */
    const now = yield* Batcher.shared({ nameOf: () => "", run: () => reading })
    let compared = { atMillis: Number.NEGATIVE_INFINITY, aheadMillis: 0 }

    /** Milliseconds since 1970 by the database, from a comparison that is at most five seconds old. */
    const estimate = Effect.flatMap(Clock.currentTimeMillis, (here) =>
      Math.abs(here - compared.atMillis) < comparedFor
        ? Effect.succeed(Math.round(here - compared.aheadMillis))
        : Effect.map(now(undefined), ({ aheadMillis, millis }) => {
            compared = { atMillis: millis + aheadMillis, aheadMillis }
            return millis
          }),
    )

    return { now: now(undefined), estimate }
  }),
}) {
  static readonly layer = Layer.effect(this, this.make)
}
