/** The field guide as it stands now: spirits with their keepers, altars with their day, and the state of the field. */
import { Clock, Context, Effect, Layer, Schema, Tuple } from "effect"
import { SqlClient } from "effect/sql"
import type { AltarList, Field, SpiritList } from "../../../schema/altar/Guide.ts"
import { SpiritId } from "../../../schema/altar/Spirit.ts"
import * as Ledger from "../../payments/ledger/Queries.ts"
import { Moment, readable, rowReader, rowsOf, Whole } from "../../platform/Rows.ts"
import { timestampOf } from "../../platform/Time.ts"
import { PublicUrl } from "../../platform/PublicUrl.ts"
import { prefix } from "../Artwork.ts"
import { litCandleOf, LitJson } from "../candles/CandleRow.ts"
import * as Candles from "../candles/Queries.ts"
import * as Collectibles from "../collectibles/Queries.ts"
import * as Keepers from "../keepers/Queries.ts"
import { slotOf } from "../prayers/Prayers.ts"
import * as Prayers from "../prayers/Queries.ts"
import { spirits as pages } from "../Spirits.ts"
import * as Stones from "../witness/Queries.ts"

const AltarRow = Schema.Struct({
  spirit: SpiritId,
  held: Schema.Boolean,
  lit: Whole,
  dedicated: Whole,
  candles: Schema.NullOr(Schema.Array(LitJson)),
})

const FieldRow = Schema.Union([
  Schema.Struct({ id: Schema.Null }),
  Schema.Struct({
    id: Schema.String,
    act: Schema.String,
    permalink: Schema.String,
    settledAt: Moment,
    transaction: Schema.NullOr(Schema.String),
  }),
]).mapMembers(
  Tuple.map(
    Schema.fieldsAssign({
      keepers: Whole,
      prayers: Whole,
      lit: Whole,
      stones: Whole,
      settled: Whole,
      cents: Whole,
    }),
  ),
)

const readKept = rowReader(
  "keepers",
  Keepers.KeeperRow.mapMembers(Tuple.map(Schema.fieldsAssign({ spirit: SpiritId }))),
)
const readKeeper = rowReader("keepers", Keepers.KeeperRow)
const readPrayer = rowReader("prayers", Prayers.PrayerRow)
const readAltar = rowReader("altars", AltarRow)
/** A row of the altars, by the owners of its columns. */
const readRow = (row: unknown) =>
  Effect.all({ altar: readAltar(row), keeper: readKeeper(row), prayer: readPrayer(row) })
const fieldOf = rowsOf("payment_totals", FieldRow)

const ids = pages.map((page) => page.id)

export class FieldGuide extends Context.Service<
  FieldGuide,
  {
    /** The spirits, and below their altars: one whose row cannot be read is logged and left out. */
    readonly spirits: Effect.Effect<typeof SpiritList.Type>
    readonly altars: Effect.Effect<typeof AltarList.Type>
    readonly field: Effect.Effect<typeof Field.Type>
  }
>()("spirit-altar/altar/guide/FieldGuide") {
  static readonly layer = Layer.effect(
    FieldGuide,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const publicUrl = yield* PublicUrl

      const ledger = Ledger.make(sql)
      const keepers = Keepers.make(sql)
      const prayers = Prayers.make(sql)
      const collectibles = Collectibles.make(sql)
      const stones = Stones.make(sql)
      const spirit = sql.literal("s.spirit")

      const spirits = Effect.gen(function* () {
        const rows = yield* sql`
          SELECT s.spirit, ${keepers.columns}
          FROM unnest(${ids}::text[]) AS s(spirit) LEFT JOIN ${keepers.keepers} ON k.spirit = s.spirit`
        const found = new Map((yield* readable(rows, readKept)).map((row) => [row.spirit, row]))
        return {
          ok: true as const,
          spirits: pages.flatMap(({ lines: _, ...page }) => {
            const row = found.get(page.id)
            if (row === undefined) return []
            return [{ ...page, image: `${prefix}/spirits/${page.id}.svg`, keeper: Keepers.keeperOf(publicUrl, row) }]
          }),
        }
      }).pipe(Effect.orDie, Effect.withSpan("FieldGuide.spirits"))

      const altars = Effect.gen(function* () {
        const now = timestampOf(yield* Clock.currentTimeMillis)
        const day = now.slice(0, 10)
        const candles = Candles.make(sql, now)
        const rows = yield* sql`
          SELECT s.spirit, ${keepers.columns}, ${prayers.columns},
            ${ledger.isClaimed(sql`replace(${slotOf("*", day)}::text, '*', s.spirit)`)} AS held,
            ${candles.countOn(spirit)} AS lit, ${candles.newestOn(spirit, 5)} AS candles,
            ${collectibles.dedicatedTo(spirit)} AS dedicated
          FROM unnest(${ids}::text[]) AS s(spirit)
          LEFT JOIN ${keepers.keepers} ON k.spirit = s.spirit
          LEFT JOIN ${prayers.of(day)} ON p.spirit = s.spirit`
        const found = new Map((yield* readable(rows, readRow)).map((row) => [row.altar.spirit, row]))
        const altars = pages.flatMap(({ altarLine, id, name }) => {
          const row = found.get(id)
          if (row === undefined) return []
          const { altar } = row
          const prayer = Prayers.prayerOf(publicUrl, row.prayer)
          return [
            {
              spirit: id,
              name,
              altarLine,
              keeper: Keepers.keeperOf(publicUrl, row.keeper),
              today: {
                day,
                state: prayer !== null ? ("taken" as const) : altar.held ? ("held" as const) : ("free" as const),
                prayer,
              },
              litCandles: altar.lit,
              candles: (altar.candles ?? []).map((candle) => litCandleOf(publicUrl, candle)),
              dedicated: altar.dedicated,
            },
          ]
        })
        return { ok: true as const, day, altars }
      }).pipe(Effect.orDie, Effect.withSpan("FieldGuide.altars"))

      const field = Effect.gen(function* () {
        const now = timestampOf(yield* Clock.currentTimeMillis)
        const day = now.slice(0, 10)
        const [row] = yield* fieldOf(sql`
          SELECT ${keepers.count} AS keepers, ${prayers.countOf(day)} AS prayers,
            ${Candles.make(sql, now).count} AS lit, ${stones.count} AS stones,
            t.settled, t.cents, a.id, a.act, a.permalink, a.settled_at, a.receipt::json ->> 'transaction' AS transaction
          FROM ${ledger.totals} t LEFT JOIN LATERAL ${ledger.newestAct} a ON true`)
        if (row === undefined) return yield* Effect.die("payment_totals has no row")
        return {
          ok: true as const,
          day,
          keepers: row.keepers,
          prayersToday: row.prayers,
          litCandles: row.lit,
          stones: row.stones,
          acts: row.settled,
          centsSettled: row.cents,
          lastSettlement:
            row.id === null
              ? null
              : {
                  id: row.id,
                  act: row.act,
                  permalink: row.permalink,
                  settledAt: row.settledAt,
                  transaction: row.transaction,
                },
        }
      }).pipe(Effect.orDie, Effect.withSpan("FieldGuide.field"))

      return FieldGuide.of({ spirits, altars, field })
    }),
  )
}
