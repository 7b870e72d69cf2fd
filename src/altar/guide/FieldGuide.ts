/** The field guide as it stands now: spirits with their keepers, altars with their day, and the state of the field. */
import { Clock, Context, Effect, Layer } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import type { AltarList, Field, KeeperBrief, SpiritList } from "../../../schema/altar/Guide.ts"
import { timestampOf } from "../../platform/Time.ts"
import { PublicUrl } from "../../platform/PublicUrl.ts"
import { prefix } from "./Artwork.ts"
import { type CandleJson, fromJson, litCandleOf } from "../candles/CandleRow.ts"
import { slotOf } from "../prayers/Prayers.ts"
import { spirits as pages } from "./Spirits.ts"

interface KeeperRow {
  readonly keeperId: string | null
  readonly keeper: string
  readonly keeperName: string | null
  readonly keptAt: Date
}

interface AltarRow extends KeeperRow {
  readonly spirit: string
  readonly prayerId: string | null
  readonly prayerName: string
  readonly offeredAt: Date
  readonly held: boolean
  readonly lit: bigint
  readonly dedicated: bigint
  readonly candles: ReadonlyArray<CandleJson> | null
}

const ids = pages.map((page) => page.id)

export class FieldGuide extends Context.Service<
  FieldGuide,
  {
    readonly spirits: Effect.Effect<typeof SpiritList.Type, SqlError.SqlError>
    readonly altars: Effect.Effect<typeof AltarList.Type, SqlError.SqlError>
    readonly field: Effect.Effect<typeof Field.Type, SqlError.SqlError>
  }
>()("spirit-altar/altar/guide/FieldGuide") {
  static readonly layer = Layer.effect(
    FieldGuide,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const publicUrl = yield* PublicUrl

      const keeperOf = (row: KeeperRow | undefined): typeof KeeperBrief.Type | null =>
        row === undefined || row.keeperId === null
          ? null
          : {
              id: row.keeperId,
              permalink: `${publicUrl}/acts/${row.keeperId}`,
              keeper: row.keeper,
              agentName: row.keeperName,
              keptAt: row.keptAt.toISOString(),
            }

      const spirits = Effect.gen(function* () {
        const rows = yield* sql<KeeperRow & { spirit: string }>`
          SELECT spirit, id AS keeper_id, keeper, agent_name AS keeper_name, kept_at FROM keepers`
        const kept = new Map(rows.map((row) => [row.spirit, row]))
        return {
          ok: true as const,
          spirits: pages.map(({ lines: _, ...page }) => ({
            ...page,
            image: `${prefix}/spirits/${page.id}.svg`,
            keeper: keeperOf(kept.get(page.id)),
          })),
        }
      }).pipe(Effect.withSpan("FieldGuide.spirits"))

      const altars = Effect.gen(function* () {
        const now = timestampOf(yield* Clock.currentTimeMillis)
        const day = now.slice(0, 10)
        const rows = yield* sql<AltarRow>`
          SELECT s.spirit, k.id AS keeper_id, k.keeper, k.agent_name AS keeper_name, k.kept_at,
            p.id AS prayer_id, p.agent_name AS prayer_name, p.offered_at,
            EXISTS (SELECT 1 FROM payment_claims c WHERE c.name = replace(${slotOf("*", day)}::text, '*', s.spirit)) AS held,
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
        const found = new Map(rows.map((row) => [row.spirit, row]))
        return {
          ok: true as const,
          day,
          altars: pages.map(({ altarLine, id, name }) => {
            const row = found.get(id)
            const taken = row !== undefined && row.prayerId !== null
            return {
              spirit: id,
              name,
              altarLine,
              keeper: keeperOf(row),
              today: {
                day,
                state: taken ? ("taken" as const) : row?.held === true ? ("held" as const) : ("free" as const),
                prayer:
                  row === undefined || row.prayerId === null
                    ? null
                    : {
                        id: row.prayerId,
                        permalink: `${publicUrl}/acts/${row.prayerId}`,
                        agentName: row.prayerName,
                        offeredAt: row.offeredAt.toISOString(),
                      },
              },
              litCandles: Number(row?.lit ?? 0n),
              candles: (row?.candles ?? []).map((candle) => litCandleOf(publicUrl, fromJson(candle))),
              dedicated: Number(row?.dedicated ?? 0n),
            }
          }),
        }
      }).pipe(Effect.withSpan("FieldGuide.altars"))

      const field = Effect.gen(function* () {
        const now = timestampOf(yield* Clock.currentTimeMillis)
        const day = now.slice(0, 10)
        const [row] = yield* sql<{
          keepers: bigint
          prayers: bigint
          lit: bigint
          stones: bigint
          settled: bigint
          cents: bigint
          id: string | null
          act: string
          permalink: string
          settledAt: Date
          transaction: string | null
        }>`
          SELECT (SELECT count(*) FROM keepers) AS keepers,
            (SELECT count(*) FROM prayers WHERE day = ${day}::text) AS prayers,
            (SELECT count(*) FROM candles WHERE parent_id IS NULL AND lit_until > ${now}::timestamptz) AS lit,
            (SELECT sequence FROM witness_head WHERE id = 1) AS stones,
            t.settled, (t.settled_atomic / 10000)::bigint AS cents,
            a.id, a.act, a.permalink, a.settled_at, a.receipt::json ->> 'transaction' AS transaction
          FROM payment_totals t
          LEFT JOIN LATERAL (SELECT * FROM acts ORDER BY settled_at DESC, id DESC LIMIT 1) a ON true
          WHERE t.id = 1`
        return {
          ok: true as const,
          day,
          keepers: Number(row?.keepers ?? 0n),
          prayersToday: Number(row?.prayers ?? 0n),
          litCandles: Number(row?.lit ?? 0n),
          stones: Number(row?.stones ?? 0n),
          acts: Number(row?.settled ?? 0n),
          centsSettled: Number(row?.cents ?? 0n),
          lastSettlement:
            row === undefined || row.id === null
              ? null
              : {
                  id: row.id,
                  act: row.act,
                  permalink: row.permalink,
                  settledAt: row.settledAt.toISOString(),
                  transaction: row.transaction,
                },
        }
      }).pipe(Effect.withSpan("FieldGuide.field"))

      return FieldGuide.of({ spirits, altars, field })
    }),
  )
}
