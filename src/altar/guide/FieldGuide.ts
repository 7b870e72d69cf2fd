/** The current field guide: spirits with their keepers, altars with their day, and the state of the field. */
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { Field, PrayerSlot, Spirit } from "../../../schema/altar/Guide.ts"
import { SpiritId } from "../../../schema/altar/Spirit.ts"
import * as Ledger from "../../payments/store/LedgerSql.ts"
import * as CachedReads from "../../platform/CachedReads.ts"
import { DatabaseClock } from "../../platform/DatabaseClock.ts"
import { readable, rowReader, rowsOf, Whole } from "../../platform/Rows.ts"
import { PublicUrl } from "../../platform/PublicUrl.ts"
import { instant } from "../../platform/Sql.ts"
import { prefix } from "../Artwork.ts"
import { litCandleOf, LitRow } from "../candles/CandleRow.ts"
import * as Candles from "../candles/CandleSql.ts"
import * as Collectibles from "../collectibles/Collectibles.ts"
import * as Keepers from "../keepers/Keepers.ts"
import { Reveals } from "../Reveals.ts"
import * as Prayers from "../prayers/Prayers.ts"
import { spirits as pages } from "../Spirits.ts"

const SpiritRow = Schema.Struct({ spirit: SpiritId, keeper: Spirit.fields.keeper })

const AltarRow = Schema.Struct({
  ...SpiritRow.fields,
  prayer: PrayerSlot.fields.prayer,
  held: Schema.Boolean,
  lit: Whole,
  dedicated: Whole,
  candles: Schema.NullOr(Schema.Array(LitRow)),
})

const FieldRow = Schema.Struct({
  day: Schema.String,
  keepers: Whole,
  prayers: Whole,
  lit: Whole,
  stones: Whole,
  settled: Whole,
  cents: Whole,
  last: Field.fields.lastSettlement,
})

const readSpirit = rowReader("keepers", SpiritRow)
const readAltar = rowReader("altars", AltarRow)
const readField = rowsOf("payment_totals", FieldRow)
const readDays = rowsOf("altars", Schema.Struct({ day: Schema.String }))

/** The day of the query. */
const dayOf = (rows: ReadonlyArray<unknown>) =>
  Effect.flatMap(readDays(Effect.succeed(rows.slice(0, 1))), ([first]) =>
    first === undefined ? Effect.die("there are no altars") : Effect.succeed(first.day),
  )

const ids = pages.map((page) => page.id)

export class FieldGuide extends Context.Service<FieldGuide>()("spirit-altar/altar/guide/FieldGuide", {
  make: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const publicUrl = yield* PublicUrl
    const reveals = yield* Reveals

    const spiritRows = () => sql`
      SELECT s.spirit, ${Keepers.brief(publicUrl)} AS keeper
      FROM unnest(${ids}::text[]) AS s(spirit) LEFT JOIN keepers k ON k.spirit = s.spirit`

    const spiritsOf = Effect.fnUntraced(function* (rows: ReadonlyArray<unknown>) {
      const bySpirit = new Map((yield* readable(rows, readSpirit)).map((row) => [row.spirit, row]))
      return {
        ok: true as const,
        spirits: pages.flatMap(({ lines: _, ...page }) => {
          const row = bySpirit.get(page.id)
          if (row === undefined) return []
          return [{ ...page, image: `${prefix}/spirits/${page.id}.svg`, keeper: row.keeper }]
        }),
      }
    })

    const clock = (yield* DatabaseClock).estimate

    const altarRows = (_: "altars", now: string) => {
      const day = now.slice(0, 10)
      const candles = Candles.burning(now)
      return sql`
        SELECT s.spirit, ${day}::text AS day, ${Keepers.brief(publicUrl)} AS keeper, ${Prayers.brief(publicUrl)} AS prayer,
          ${Ledger.isClaimed(sql`replace(${Prayers.slotOf("*", day)}::text, '*', s.spirit)`)} AS held,
          COALESCE(c.lit, 0) AS lit, c.candles, COALESCE(d.dedicated, 0) AS dedicated
        FROM unnest(${ids}::text[]) AS s(spirit)
        LEFT JOIN keepers k ON k.spirit = s.spirit
        LEFT JOIN prayers p ON p.spirit = s.spirit AND p.day = ${day}::text
        LEFT JOIN ${candles.perSpirit(5)} c ON c.spirit = s.spirit
        LEFT JOIN ${Collectibles.perSpirit} d ON d.spirit = s.spirit`
    }

    const altarsOf = Effect.fnUntraced(function* (rows: ReadonlyArray<unknown>) {
      const day = yield* dayOf(rows)
      const bySpirit = new Map((yield* readable(rows, readAltar)).map((row) => [row.spirit, row]))
      yield* reveals.check([...bySpirit.values()].flatMap(({ candles }) => candles ?? []))
      const altars = pages.flatMap(({ altarLine, id, name }) => {
        const row = bySpirit.get(id)
        if (row === undefined) return []
        const { candles, dedicated, held, keeper, lit, prayer } = row
        const state = prayer !== null ? ("taken" as const) : held ? ("held" as const) : ("free" as const)
        return [
          {
            spirit: id,
            name,
            altarLine,
            keeper,
            today: { day, state, prayer },
            litCandles: lit,
            candles: (candles ?? []).map((candle) => litCandleOf(publicUrl, candle)),
            dedicated,
          },
        ]
      })
      return { ok: true as const, day, altars }
    })

    const fieldRows = (_: "field", now: string) => {
      const day = now.slice(0, 10)
      return sql`
        SELECT ${day}::text AS day, ${Keepers.count} AS keepers, ${Prayers.countOf(day)} AS prayers,
          ${Candles.burning(now).count} AS lit, (SELECT sequence FROM witness_head WHERE id = 1) AS stones,
          t.settled, t.cents, CASE WHEN a.id IS NOT NULL THEN json_build_object('id', a.id, 'act', a.act,
            'permalink', a.permalink, 'settledAt', ${instant("a.settled_at")},
            'transaction', a.receipt::json ->> 'transaction') END AS last
        FROM ${Ledger.totals} t LEFT JOIN LATERAL ${Ledger.newestAct} a ON true`
    }

    const fieldOf = Effect.fnUntraced(function* (rows: ReadonlyArray<unknown>) {
      const [row] = yield* readField(Effect.succeed(rows))
      if (row === undefined) return yield* Effect.die("payment_totals has no row")
      return {
        ok: true as const,
        day: row.day,
        keepers: row.keepers,
        prayersToday: row.prayers,
        litCandles: row.lit,
        stones: row.stones,
        acts: row.settled,
        centsSettled: row.cents,
        lastSettlement: row.last,
      }
    })

    const kept = <Name extends string, A extends object>(
      name: Name,
      statement: (name: Name, now: string) => Statement.Fragment,
      make: (rows: ReadonlyArray<unknown>) => Effect.Effect<A>,
    ) => Effect.map(CachedReads.make({ nameOf: () => name, clock, statement, make }), (load) => load(name))

    return {
      /** Spirits and altars; an unreadable row is logged and omitted. */
      spirits: yield* kept("spirits", spiritRows, spiritsOf),
      altars: yield* kept("altars", altarRows, altarsOf),
      field: yield* kept("field", fieldRows, fieldOf),
    }
  }),
}) {
  static readonly layer = Layer.effect(this, this.make)
}
