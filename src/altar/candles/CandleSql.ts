/** What candles let others read inside a statement of their own, so that a read stays one round trip. */
import type { Statement } from "effect/sql"
import { lightsShown, rungTerms } from "../../../schema/altar/Candle.ts"
import { literal, part } from "../../platform/SqlPart.ts"

/** A day more than the longest candle burns, as servers' clocks differ. */
const longest = `'${Math.max(...Object.values(rungTerms).map(({ days }) => days)) + 1} days'`

/**
 * Which candles burn, and no lights. Said as a range, and in subqueries, whose values PostgreSQL does not plan by, its plan
 * is one for all moments and supposes that few of a long history burn.
 */
export const isLit = (now: string) =>
  part`parent_id IS NULL AND lit_until > (SELECT ${now}::timestamptz)
    AND lit_until <= (SELECT ${now}::timestamptz + interval ${literal(longest)})`

/** Columns of what was unsealed of a candle, as `revealColumns` read them: whoever unseals gives no name. */
export const unsealed = part`u.words AS reveal_text, u.salt AS reveal_salt, u.hidden AS reveal_hidden,
  u.hidden_by AS reveal_hidden_by, NULL::text AS reveal_agent_name, u.unsealed_at AS revealed_at`

/** What was unsealed of the candle or light with this id. */
export const unsealOf = (id: Statement.Fragment) => part`
  SELECT c.id, c.commitment, ${unsealed}
  FROM candle_unseals u JOIN candles c ON c.id = u.candle_id WHERE u.candle_id = ${id}`

/** `now` is RFC 3339: a candle is lit while its time is not over. */
export const burning = (now: string) => {
  const lit = part`(SELECT * FROM candles WHERE ${isLit(now)})`
  const lightsOn = (candle: Statement.Fragment) => ({
    count: part`(SELECT count(*) FROM candles l WHERE l.parent_id = ${candle} AND l.lit_until > ${now}::timestamptz)`,
    newest: part`(SELECT json_agg(json_build_object('id', l.id, 'agentName', l.agent_name, 'rung', l.rung,
        'litAt', l.lit_at, 'litUntil', l.lit_until) ORDER BY l.lit_at DESC, l.id DESC) FROM (
      SELECT * FROM candles WHERE parent_id = ${candle} AND lit_until > ${now}::timestamptz
      ORDER BY lit_at DESC, id DESC LIMIT ${literal(String(lightsShown))}) l)`,
  })
  const lights = lightsOn(part`c.id`)
  return {
    /** How many lights burn on a candle, and the newest of them as JSON; null where there are none. */
    lightsOn,
    /** How many candles burn. */
    count: part`(SELECT count(*) FROM ${lit} c)`,
    /** A row for each `spirit` on whose altar some burn: how many, and the newest of them as JSON that `LitJson` reads. */
    perSpirit: (newest: number) => part`(
      SELECT c.spirit, count(*) AS lit, json_agg(json_build_object('id', c.id, 'parentId', NULL, 'spirit', c.spirit,
          'rung', c.rung, 'dedication', c.dedication, 'agentName', c.agent_name, 'commitment', c.commitment,
          'payer', c.payer, 'transaction', c.transaction, 'litAt', c.lit_at, 'litUntil', c.lit_until, 'revealText', u.words,
          'revealSalt', u.salt, 'revealHidden', u.hidden, 'revealHiddenBy', u.hidden_by, 'revealAgentName', NULL,
          'revealedAt', u.unsealed_at, 'lights', ${lights.newest}, 'lightCount', ${lights.count})
          ORDER BY c.place) FILTER (WHERE c.place <= ${newest}::int) AS candles
      FROM (SELECT *, row_number() OVER (PARTITION BY spirit ORDER BY lit_at DESC, id DESC) AS place FROM ${lit} b) c
      LEFT JOIN candle_unseals u ON u.candle_id = c.id GROUP BY c.spirit)`,
    /** The newest of them on a spirit's altar and the newest lights that burn on those, by id. */
    burningOn: (spirit: string, limit: number) => part`
      (SELECT id FROM ${lit} c WHERE c.spirit = ${spirit}::text ORDER BY lit_at DESC, id DESC LIMIT ${limit}::int)
      UNION ALL (SELECT l.id FROM ${lit} c JOIN candles l ON l.parent_id = c.id AND l.lit_until > ${now}::timestamptz
        WHERE c.spirit = ${spirit}::text ORDER BY l.lit_at DESC, l.id DESC LIMIT ${limit}::int)`,
  }
}
