/** Settled acts by kind, spirit and wallet: conditions of a statement, and their sums for each day. */
import { Clock, Effect, Schema } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import * as Ledger from "../payments/store/LedgerSql.ts"
import { rowsOf, Whole } from "../platform/Rows.ts"
import { bounded } from "../platform/Sql.ts"
import { part } from "../platform/SqlPart.ts"
import { timestampOf } from "../platform/Time.ts"

/** Acts of these names, with this spirit, paid by this wallet; an absent part admits all. */
export interface ActFilter {
  readonly acts?: ReadonlyArray<string> | undefined
  readonly spirit?: string | undefined
  readonly wallet?: string | undefined
}

export const filterName = ({ acts, spirit, wallet }: ActFilter) => `${acts} ${spirit} ${wallet}`

/** Conditions on `a` and `p` of `settledActs`. */
export const conditions = ({ acts, spirit, wallet }: ActFilter): ReadonlyArray<Statement.Fragment> => [
  ...(acts === undefined ? [] : [part`a.act = ANY(${acts}::text[])`]),
  ...(spirit === undefined ? [] : [part`(a.record::jsonb ->> 'spirit') = ${spirit}::text`]),
  ...(wallet === undefined ? [] : [Ledger.paidBy(wallet)]),
]

/** Days that the sums cover, and the maximum of acts that they add up. */
export const daysCovered = 30
const most = 100_000

/** A UTC day with its acts and US cents. */
const ActDay = Schema.Struct({ day: Schema.String, acts: Whole, cents: Whole })
export type ActDay = typeof ActDay.Type

const daysOf = rowsOf("acts", ActDay)

/** Days with acts, oldest first. */
export const makeDays = Effect.map(SqlClient.SqlClient, (sql) =>
  Effect.fn("Acts.days")(function* (filter: ActFilter) {
    const since = timestampOf((yield* Clock.currentTimeMillis) - daysCovered * 86_400_000)
    return yield* bounded(
      Effect.orDie(
        daysOf(sql`
          SELECT to_char(settled_at AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day, count(*) AS acts,
            (sum(amount_atomic) / 10000)::bigint AS cents
          FROM (
            SELECT a.settled_at, p.amount_atomic FROM ${Ledger.settledActs}
            WHERE ${sql.and([part`a.settled_at > ${since}::timestamptz`, ...conditions(filter)])}
            ORDER BY a.settled_at DESC LIMIT ${most}::int
          ) newest GROUP BY 1 ORDER BY 1`),
      ),
    )
  }),
)
