/** The field guide as it stands now: spirits with their keepers, altars with their day, and the state of the field. */
import { Clock, Context, Effect, Layer, Schema, Tuple } from "effect"
import { SqlClient } from "effect/sql"
import type { AltarList, Field, KeeperBrief, SpiritList } from "../../../schema/altar/Guide.ts"
import { SpiritId } from "../../../schema/altar/Spirit.ts"
import * as Ledger from "../../payments/ledger/Queries.ts"
import { Moment, rowsOf, Whole } from "../../platform/Rows.ts"
import { timestampOf } from "../../platform/Time.ts"
import { PublicUrl } from "../../platform/PublicUrl.ts"
import { prefix } from "./Artwork.ts"
import { litCandleOf, LitJson } from "../candles/CandleRow.ts"
import { slotOf } from "../prayers/Prayers.ts"
import { spirits as pages } from "./Spirits.ts"

const KeeperRow = Schema.Struct({
  keeperId: Schema.String,
  keeper: Schema.String,
  keeperName: Schema.NullOr(Schema.String),
  keptAt: Moment,
})

const PrayerRow = Schema.Struct({ prayerId: Schema.String, prayerName: Schema.String, offeredAt: Moment })

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

const kept = rowsOf("keepers", KeeperRow.pipe(Schema.fieldsAssign({ spirit: SpiritId })))
/** An altar without a keeper, or without a prayer today, has null in those columns. */
const keepersOf = rowsOf("keepers", Schema.Union([Schema.Struct({ keeperId: Schema.Null }), KeeperRow]))
const prayersOf = rowsOf("prayers", Schema.Union([Schema.Struct({ prayerId: Schema.Null }), PrayerRow]))
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

      const keeperOf = (row: typeof KeeperRow.Type): typeof KeeperBrief.Type => ({
        id: row.keeperId,
        permalink: `${publicUrl}/acts/${row.keeperId}`,
        keeper: row.keeper,
        agentName: row.keeperName,
        keptAt: row.keptAt,
      })

      const spirits = Effect.gen(function* () {
        const rows = yield* kept(sql`
          SELECT spirit, id AS keeper_id, keeper, agent_name AS keeper_name, kept_at FROM keepers`)
        const keepers = new Map(rows.map((row) => [row.spirit, keeperOf(row)]))
        return {
          ok: true as const,
          spirits: pages.map(({ lines: _, ...page }) => ({
            ...page,
            image: `${prefix}/spirits/${page.id}.svg`,
            keeper: keepers.get(page.id) ?? null,
          })),
        }
      }).pipe(Effect.orDie, Effect.withSpan("FieldGuide.spirits"))

      const altars = Effect.gen(function* () {
        const now = timestampOf(yield* Clock.currentTimeMillis)
        const day = now.slice(0, 10)
        const rows = yield* sql`
          SELECT s.spirit, k.id AS keeper_id, k.keeper, k.agent_name AS keeper_name, k.kept_at,
            p.id AS prayer_id, p.agent_name AS prayer_name, p.offered_at,
            ${ledger.isClaimed(sql`replace(${slotOf("*", day)}::text, '*', s.spirit)`)} AS held,
            (SELECT count(*) FROM candles c WHERE c.parent_id IS NULL AND c.lit_until > ${now}::timestamptz
              AND c.spirit = s.spirit) AS lit,
            (SELECT count(*) FROM collectibles c WHERE c.spirit = s.spirit) AS dedicated,
            (SELECT json_agg(json_build_object('id', c.id, 'parentId', NULL, 'spirit', c.spirit, 'rung', c.rung,
                'dedication', c.dedication, 'agentName', c.agent_name, 'commitment', c.commitment, 'payer', c.payer,
                'transaction', c.transaction, 'litAt', c.lit_at, 'litUntil', c.lit_until, 'words', u.words,
                'hidden', u.hidden, 'unsealedAt', u.unsealed_at, 'lights', NULL,
                'lightCount', (SELECT count(*) FROM candles l WHERE l.parent_id = c.id AND l.lit_until > ${now}::timestamptz)) ORDER BY c.lit_at DESC, c.id DESC)
              FROM (SELECT * FROM candles WHERE parent_id IS NULL AND lit_until > ${now}::timestamptz AND spirit = s.spirit
                ORDER BY lit_at DESC, id DESC LIMIT 5) c
              LEFT JOIN candle_unseals u ON u.candle_id = c.id) AS candles
          FROM unnest(${ids}::text[]) AS s(spirit)
          LEFT JOIN keepers k ON k.spirit = s.spirit
          LEFT JOIN prayers p ON p.day = ${day}::text AND p.spirit = s.spirit`
        const [read, keepers, prayers] = yield* Effect.all([
          altarsOf(Effect.succeed(rows)),
          keepersOf(Effect.succeed(rows)),
          prayersOf(Effect.succeed(rows)),
        ])
        const found = new Map(
          read.map((row, index) => [row.spirit, { ...row, keeper: keepers[index], prayer: prayers[index] }]),
        )
        const altars = yield* Effect.forEach(pages, ({ altarLine, id, name }) => {
          const row = found.get(id)
          if (row === undefined || row.keeper === undefined || row.prayer === undefined) {
            return Effect.die(`the altar of ${id} was not read`)
          }
          const { keeper, prayer } = row
          return Effect.succeed({
            spirit: id,
            name,
            altarLine,
            keeper: keeper.keeperId === null ? null : keeperOf(keeper),
            today: {
              day,
              state: prayer.prayerId !== null ? ("taken" as const) : row.held ? ("held" as const) : ("free" as const),
              prayer:
                prayer.prayerId === null
                  ? null
                  : {
                      id: prayer.prayerId,
                      permalink: `${publicUrl}/acts/${prayer.prayerId}`,
                      agentName: prayer.prayerName,
                      offeredAt: prayer.offeredAt,
                    },
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
          SELECT (SELECT count(*) FROM keepers) AS keepers,
            (SELECT count(*) FROM prayers WHERE day = ${day}::text) AS prayers,
            (SELECT count(*) FROM candles WHERE parent_id IS NULL AND lit_until > ${now}::timestamptz) AS lit,
            (SELECT sequence FROM witness_head WHERE id = 1) AS stones,
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
