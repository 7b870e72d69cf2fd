/** The tables of the log. Each step is one statement, since a server may die between any two. */
import { Context, Effect, Layer, Option } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { hex } from "../../schema/log/Bytes.ts"
import type { TilePlace } from "../../schema/log/Tile.ts"
import { transaction } from "../platform/Sql.ts"
import type { Found } from "./Entries.ts"
import {
  checkpointsOf,
  extendedOf,
  headOf,
  headsOf,
  type Path,
  pathsOf,
  publishedOf,
  readerOf,
  entryPathsOf,
  tileRowsOf,
  tilesOf,
  type TreeHead,
} from "./LogRows.ts"
import type { StopReason } from "./StopReason.ts"
import { type Growth, tileBytes } from "./Tree.ts"

/** Maximum level of a tree of 2^53 leaves. */
const topLevel = 6

export class LogStore extends Context.Service<LogStore>()("spirit-altar/log/LogStore", {
  make: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const headColumns = sql.literal(
      "size, root, stopped_code, stopped_reason, stopped_at, greatest(0, ceil(extract(epoch FROM rests_until - now())))::int AS rest",
    )
    const running = sql`EXISTS (SELECT 1 FROM log_head WHERE id = 1 AND stopped_at IS NULL)`
    const newestOne = sql`SELECT size, root, note, published_at FROM log_checkpoints ORDER BY size DESC LIMIT 1`
    const pathColumns = sql.literal("c.size, c.root, c.note, c.published_at, t.level::int AS level, t.index, t.hashes")
    const tilesAbove = (leaf: Statement.Fragment) => sql`
      CROSS JOIN generate_series(0, ${topLevel}::int) AS l(level)
      LEFT JOIN log_tiles t ON t.level = l.level
        AND t.index IN ((${leaf}) >> (8 * (l.level + 1)), c.size >> (8 * (l.level + 1)))`

    return {
      head: Effect.flatMap(headsOf(sql`SELECT ${headColumns} FROM log_head WHERE id = 1`), ([row]) =>
        row === undefined ? Effect.die("the log has no head") : Effect.succeed(headOf(row)),
      ),

      // The head, locked until the end of the transaction; none while another server holds it. The lock expires after
      // ten seconds without a statement, since a hanging server would stop the integrators of all servers.
      lockHead: Effect.map(
        headsOf(sql`
          SELECT ${headColumns}, set_config('idle_in_transaction_session_timeout', '10000', true)
          FROM log_head WHERE id = 1 FOR UPDATE SKIP LOCKED`),
        ([row]) => Option.map(Option.fromUndefinedOr(row), headOf),
      ),

      tiles: Effect.fn("LogStore.tiles")(function* (places: ReadonlyArray<TilePlace>) {
        const asked = JSON.stringify(places.map(({ index, level }) => ({ level, index })))
        const rows = yield* tileRowsOf(sql`
          SELECT t.level::int AS level, t.index, t.hashes
          FROM json_to_recordset(${asked}::json) AS p(level smallint, index bigint)
          JOIN log_tiles t ON t.level = p.level AND t.index = p.index`)
        return readerOf(rows)
      }),

      /** Grows the tree in one statement. False if the stored tiles have changed; the caller must roll back. */
      extend: Effect.fn("LogStore.extend")(function* (
        from: number,
        growths: ReadonlyArray<Growth>,
        { root, size }: TreeHead,
      ) {
        const grown = JSON.stringify(
          growths.map(({ hashes, index, level, start }) => ({ level, index, start, hashes: hex(tileBytes(hashes)) })),
        )
        const [done] = yield* extendedOf(sql`
          WITH growths AS (
            SELECT level, index, start, decode(hashes, 'hex') AS hashes
            FROM json_to_recordset(${grown}::json) AS g(level smallint, index bigint, start int, hashes text)
          ), grown AS (
            INSERT INTO log_tiles AS t (level, index, hashes) SELECT level, index, hashes FROM growths g
            WHERE start = 0 OR EXISTS (SELECT 1 FROM log_tiles o WHERE o.level = g.level AND o.index = g.index)
            ON CONFLICT (level, index) DO UPDATE SET hashes = t.hashes || excluded.hashes
            WHERE octet_length(t.hashes) = (
              SELECT g.start * 32 FROM growths g WHERE g.level = t.level AND g.index = t.index
            )
            RETURNING t.level
          ), moved AS (
            UPDATE log_head SET size = ${size}::bigint, root = ${root}::bytea
            WHERE id = 1 AND size = ${from}::bigint RETURNING id
          )
          SELECT (SELECT count(*) FROM grown) AS tiles,
            (SELECT count(*) FROM moved) AS heads`)
        return done?.tiles === growths.length && done.heads === 1
      }),

      newest: Effect.map(checkpointsOf(newestOne), ([row]) => Option.map(Option.fromUndefinedOr(row), publishedOf)),

      /** Claims the next checkpoint and begins the pause after it. False while a pause lasts, on any server. */
      takeTurn: (seconds: number) =>
        Effect.map(
          sql`
            UPDATE log_head SET rests_until = now() + make_interval(secs => ${seconds})
            WHERE id = 1 AND rests_until <= now() RETURNING id`,
          (taken) => taken.length > 0,
        ),

      /** Publishes a checkpoint of a size the tree has. An existing one stays, and a stopped log publishes nothing. */
      publish: ({ root, size }: TreeHead, note: string) =>
        Effect.asVoid(sql`
          INSERT INTO log_checkpoints (size, root, note)
          SELECT ${size}::bigint, ${root}::bytea, ${note}::text FROM log_head
          WHERE id = 1 AND size >= ${size}::bigint AND stopped_at IS NULL
          ON CONFLICT (size) DO NOTHING`),

      /** Adds signatures to a published checkpoint while its note is unchanged. */
      cosign: (size: number, before: string, note: string) =>
        Effect.asVoid(sql`
          UPDATE log_checkpoints SET note = ${note}::text
          WHERE size = ${size}::bigint AND note = ${before}::text AND ${running}`),

      /** Renews the date of the checkpoint that is still the newest state of the log. A stopped log renews nothing. */
      confirm: (size: number) =>
        Effect.asVoid(sql`
          UPDATE log_checkpoints SET published_at = now() WHERE size = ${size}::bigint AND ${running}`),

      /**
       * The newest checkpoint with the tiles above a leaf and those of the tree's right edge, in one round trip: all
       * that a tile, a bundle or a proof of that leaf needs.
       */
      path: Effect.fn("LogStore.path")(function* (leaf: number) {
        const rows = yield* pathsOf(
          sql`WITH newest AS (${newestOne}) SELECT ${pathColumns} FROM newest c ${tilesAbove(sql`${leaf}::bigint`)}`,
        )
        return Option.map(Option.fromUndefinedOr(rows[0]), (first): Path => ({
          published: publishedOf(first),
          read: tilesOf(rows),
        }))
      }),

      /** An entry with its path in one round trip; none if the given statement finds no entry. */
      entryPath: Effect.fn("LogStore.entryPath")(function* (find: Statement.Fragment) {
        const rows = yield* entryPathsOf(sql`
          WITH newest AS (${newestOne}), entry AS (${find})
          SELECT e.sequence, e.parts, ${pathColumns}
          FROM entry e LEFT JOIN newest c ON true ${tilesAbove(sql.literal("e.sequence - 1"))}`)
        return Option.map(Option.fromUndefinedOr(rows[0]), ({ note, parts, publishedAt, root, sequence, size }) => ({
          entry: sequence === null ? Option.none<Found>() : Option.some<Found>({ sequence, parts }),
          path:
            note === null || publishedAt === null || root === null || size === null
              ? Option.none<Path>()
              : Option.some({ published: { size, root, note, at: publishedAt }, read: tilesOf(rows) }),
        }))
      }),

      /** Stops the log. True for the first caller. */
      stop: ({ code, detail }: StopReason) =>
        Effect.map(
          sql`
            UPDATE log_head SET stopped_code = ${code}::text, stopped_reason = ${detail}::text, stopped_at = now()
            WHERE id = 1 AND stopped_at IS NULL RETURNING id`,
          (stopped) => stopped.length > 0,
        ),

      /** Clears the reason after an operator has fixed its cause. Remaining faults stop the log again. */
      resume: Effect.asVoid(sql`
        UPDATE log_head SET stopped_code = NULL, stopped_reason = NULL, stopped_at = NULL WHERE id = 1`),

      atOnce: yield* transaction,
    }
  }),
}) {
  static readonly layer = Layer.effect(LogStore, LogStore.make)
}
