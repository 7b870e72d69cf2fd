/** The candles that burn now; each read decides by their time alone. */
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { PaymentTerms } from "../../payments/PaymentTerms.ts"
import { PublicUrl } from "../../platform/PublicUrl.ts"
import * as CachedReads from "../../platform/CachedReads.ts"
import { DatabaseClock } from "../../platform/DatabaseClock.ts"
import { readable, rowReader, Whole } from "../../platform/Rows.ts"
import { atMost } from "../../platform/Sql.ts"
import { Reveals } from "../Reveals.ts"
import { litCandleOf, LitRow, rungList } from "./CandleRow.ts"
import { burning, isLit } from "./CandleSql.ts"

export interface WallQuery {
  readonly spirit: string | undefined
  readonly limit: number
  /** The id of a candle; the page holds those lit before it. */
  readonly before: string | undefined
}

/** A wall without candles is one row with only the count. */
const readCandle = rowReader("candles", Schema.Struct({ candle: Schema.NullOr(LitRow) }))
const readPlace = rowReader("candles", Schema.Struct({ id: Schema.NullOr(Schema.String), lit: Whole }))

export class CandleWall extends Context.Service<CandleWall>()("spirit-altar/altar/candles/CandleWall", {
  make: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const publicUrl = yield* PublicUrl
    const reveals = yield* Reveals
    const terms = yield* PaymentTerms

    const wallRows = ({ before, limit, spirit }: WallQuery, now: string) => {
      const onAltar = spirit === undefined ? sql`` : sql`AND spirit = ${spirit}::text`
      const older =
        before === undefined
          ? sql``
          : sql`WHERE (lit_at, id) < (SELECT lit_at, id FROM candles WHERE id = ${before}::uuid)`
      return sql`
        WITH lit AS (
          SELECT * FROM candles WHERE ${isLit(now)} ${onAltar}
        ), page AS (
          SELECT * FROM lit ${older} ORDER BY lit_at DESC, id DESC ${atMost(limit)}
        )
        SELECT n.lit, c.id, CASE WHEN c.id IS NOT NULL THEN ${burning(now).litJson} END AS candle
        FROM (SELECT count(*) AS lit FROM lit) n
        LEFT JOIN page c ON true LEFT JOIN reveals r ON r.id = c.id
        ORDER BY c.lit_at DESC, c.id DESC`
    }

    const wallOf = Effect.fnUntraced(function* (rows: ReadonlyArray<unknown>, { limit }: WallQuery) {
      const [first] = rows
      const last = rows[limit - 1]
      if (first === undefined) return yield* Effect.die("a count of candles has no row")
      const lit = (yield* readable(rows, readCandle)).flatMap(({ candle }) => candle ?? [])
      yield* reveals.check(lit)
      return {
        ok: true as const,
        candles: lit.map((row) => litCandleOf(publicUrl, row)),
        lit: (yield* readPlace(first)).lit,
        rungs: rungList,
        rails: terms._tag === "Ready" ? terms.rails : [],
        next: last === undefined ? null : (yield* readPlace(last)).id,
      }
    })

    const list = yield* CachedReads.make({
      nameOf: ({ before, limit, spirit }) => `${spirit} ${limit} ${before}`,
      clock: (yield* DatabaseClock).estimate,
      statement: wallRows,
      make: wallOf,
    })

    return { list }
  }),
}) {
  static readonly layer = Layer.effect(this, this.make)
}
