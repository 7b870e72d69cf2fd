/** SQL parts about candles for the statements of other reads, which stay one round trip. */
import type { Statement } from "effect/sql"
import { lightsShown, rungTerms } from "../../../schema/altar/Candle.ts"
import { instant, literal, part } from "../../platform/Sql.ts"
import { revealedJson, shownColumn } from "../Hidden.ts"

/** One day more than the longest duration, because servers' clocks differ. */
const longest = `'${Math.max(...Object.values(rungTerms).map(({ days }) => days)) + 1} days'`

/**
 * Selects lit candles without lights. The range and the subqueries give one plan for all moments: PostgreSQL cannot
 * plan by their values, and assumes that few candles of a long history burn.
 */
export const isLit = (now: string) =>
  part`parent_id IS NULL AND lit_until > (SELECT ${now}::timestamptz)
    AND lit_until <= (SELECT ${now}::timestamptz + interval ${literal(longest)})`

/** A candle or light `c` with its reveal `r`, as JSON that `CandleRow` reads; `more` are further members. */
export const candleJson = (more: Statement.Fragment = literal("")) => part`json_build_object(
  'id', c.id, 'parentId', c.parent_id, 'spirit', c.spirit, 'rung', c.rung,
  'dedication', ${shownColumn("c", "dedication", "dedication")}, 'agentName', ${shownColumn("c", "agent_name", "agentName")}, 'commitment', c.commitment, 'payer', c.payer, 'transaction', c.transaction,
  'litAt', ${instant("c.lit_at")}, 'litUntil', ${instant("c.lit_until")}, ${revealedJson("c")}${more})`

/** Candles that are lit at `now`, RFC 3339. */
export const burning = (now: string) => {
  const lit = part`(SELECT * FROM candles WHERE ${isLit(now)})`
  const lights = part`(SELECT json_agg(json_build_object('id', l.id, 'agentName', ${shownColumn("l", "agent_name", "agentName")}, 'rung', l.rung,
      'litAt', ${instant("l.lit_at")}, 'litUntil', ${instant("l.lit_until")}) ORDER BY l.lit_at DESC, l.id DESC) FROM (
    SELECT * FROM candles WHERE parent_id = c.id AND lit_until > ${now}::timestamptz
    ORDER BY lit_at DESC, id DESC LIMIT ${literal(String(lightsShown))}) l)`
  const lightCount = part`(SELECT count(*) FROM candles l WHERE l.parent_id = c.id AND l.lit_until > ${now}::timestamptz)`
  const litJson = candleJson(part`, 'lights', ${lights}, 'lightCount', ${lightCount}`)
  return {
    /** A candle `c` with its reveal `r` and its newest burning lights, as JSON that `LitRow` reads. */
    litJson,
    count: part`(SELECT count(*) FROM ${lit} c)`,
    /** One row for each `spirit` with lit candles: their number, and the newest as `litJson`. */
    perSpirit: (newest: number) => part`(
      SELECT c.spirit, count(*) AS lit, json_agg(${litJson}
          ORDER BY c.place) FILTER (WHERE c.place <= ${newest}::int) AS candles
      FROM (SELECT *, row_number() OVER (PARTITION BY spirit ORDER BY lit_at DESC, id DESC) AS place FROM ${lit} b) c
      LEFT JOIN reveals r ON r.id = c.id GROUP BY c.spirit)`,
  }
}
