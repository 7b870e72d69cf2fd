/** The field guide as it stands now: spirits with their keepers, altars with their day, and the state of the field. */
import { Clock, Context, Effect, Layer, Schema, Tuple } from "effect"
import { SqlClient } from "effect/sql"
import type { AltarList, Field, SpiritList } from "../../../schema/altar/Guide.ts"
import { SpiritId } from "../../../schema/altar/Spirit.ts"
import * as Ledger from "../../payments/ledger/Queries.ts"
import { Moment, rowsOf, Whole } from "../../platform/Rows.ts"
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

const keepersOf = rowsOf("keepers", Keepers.KeeperRow)
const keptOf = rowsOf("keepers", Keepers.KeeperRow.mapMembers(Tuple.map(Schema.fieldsAssign({ spirit: SpiritId }))))
const prayersOf = rowsOf("prayers", Prayers.PrayerRow)
const altarsOf = rowsOf("altars", AltarRow)
const fieldOf = rowsOf("payment_totals", FieldRow)

const ids = pages.map((page) => page.id)

export class FieldGuide extends Context.Service<
  FieldGuide,
  {
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
        const rows = yield* keptOf(sql`SELECT k.spirit, ${keepers.columns} FROM ${keepers.keepers}`)
        const found = new Map(rows.map((row) => [row.spirit, Keepers.keeperOf(publicUrl, row)]))
        return {
          ok: true as const,
          spirits: pages.map(({ lines: _, ...page }) => ({
            ...page,
            image: `${prefix}/spirits/${page.id}.svg`,
            keeper: found.get(page.id) ?? null,
          })),
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
        const [read, kept, prayed] = yield* Effect.all([
          altarsOf(Effect.succeed(rows)),
          keepersOf(Effect.succeed(rows)),
          prayersOf(Effect.succeed(rows)),
        ])
        const found = new Map(
          read.map((row, index) => [row.spirit, { ...row, keeper: kept[index], prayer: prayed[index] }]),
        )
        const altars = yield* Effect.forEach(pages, ({ altarLine, id, name }) => {
          const row = found.get(id)
          if (row === undefined || row.keeper === undefined || row.prayer === undefined) {
            return Effect.die(`the altar of ${id} was not read`)
          }
          const prayer = Prayers.prayerOf(publicUrl, row.prayer)
          return Effect.succeed({
            spirit: id,
            name,
            altarLine,
            keeper: Keepers.keeperOf(publicUrl, row.keeper),
            today: {
              day,
              state: prayer !== null ? ("taken" as const) : row.held ? ("held" as const) : ("free" as const),
              prayer,
            },
            litCandles: row.lit,
            candles: (row.candles ?? []).map((candle) => litCandleOf(publicUrl, candle)),
            dedicated: row.dedicated,
          })
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
