/** What the database keeps of the log. Every step of it is one statement: a server may die between any two. */
import { Context, Effect, Layer, Option } from "effect"
import { SqlClient, type SqlError, type Statement } from "effect/sql"
import type { ChainLink } from "../../schema/altar/ChainLink.ts"
import { hex } from "../../schema/log/Bytes.ts"
import type { TilePlace } from "../../schema/log/Tile.ts"
import { transaction } from "../platform/Sql.ts"
import {
  checkpointsOf,
  extendedOf,
  headOf,
  headsOf,
  type LogHead,
  type Path,
  pathsOf,
  type Published,
  publishedOf,
  readerOf,
  stonePathsOf,
  tileRowsOf,
  tilesOf,
  type TreeHead,
} from "./LogRows.ts"
import { type Growth, tileBytes, type TileReader } from "./Tree.ts"

/** Levels of a tree of 2^53 leaves. */
const topLevel = 6

export class LogStore extends Context.Service<
  LogStore,
  {
    readonly head: Effect.Effect<LogHead, SqlError.SqlError>
    /** The head, locked to the end of the transaction; nothing while another server is at work on it. */
    readonly lockHead: Effect.Effect<Option.Option<LogHead>, SqlError.SqlError>
    /** The stored tiles of these places. */
    tiles(places: ReadonlyArray<TilePlace>): Effect.Effect<TileReader, SqlError.SqlError>
    /** Lets the tree grow from a size as one statement; false, and nothing to be kept, where tiles are not as they were. */
    extend(from: number, growths: ReadonlyArray<Growth>, to: TreeHead): Effect.Effect<boolean, SqlError.SqlError>
    readonly newest: Effect.Effect<Option.Option<Published>, SqlError.SqlError>
    /** Publishes a checkpoint of a size the tree has; the same one again changes nothing, nor does a stopped log. */
    publish(tree: TreeHead, note: string): Effect.Effect<void, SqlError.SqlError>
    /** Adds signatures under a published checkpoint, while its note is still the one that they were asked for. */
    cosign(size: number, before: string, note: string): Effect.Effect<void, SqlError.SqlError>
    /** Says of the checkpoint of a size that it is still the newest state of the log; a stopped log says nothing. */
    confirm(size: number): Effect.Effect<void, SqlError.SqlError>
    /**
     * The newest checkpoint with the tiles above a leaf and those of the tree's right edge: all that a tile, a bundle
     * or a proof of that leaf is made and checked of, in one round trip.
     */
    path(leaf: number): Effect.Effect<Option.Option<Path>, SqlError.SqlError>
    /** The same of a stone, with the stone, which the statement reads; nothing where it finds none. */
    stonePath(
      stone: Statement.Fragment,
    ): Effect.Effect<
      Option.Option<{ readonly stone: ChainLink & { readonly chainHash: string }; readonly path: Option.Option<Path> }>,
      SqlError.SqlError
    >
    /** Stops the log for good; true for the one who did. */
    stop(reason: string): Effect.Effect<boolean, SqlError.SqlError>
    /** Takes the reason away, when an operator has mended what it names; what is still wrong stops the log again. */
    readonly resume: Effect.Effect<void, SqlError.SqlError>
    /** One transaction as a whole. */
    atOnce<A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | SqlError.SqlError, R>
  }
>()("spirit-altar/log/LogStore") {
  static readonly layer = Layer.effect(
    LogStore,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const headColumns = sql.literal("size, root, stopped_reason, stopped_at")

      const head = Effect.flatMap(headsOf(sql`SELECT ${headColumns} FROM log_head WHERE id = 1`), ([row]) =>
        row === undefined ? Effect.die("the log has no head") : Effect.succeed(headOf(row)),
      )

      // Whoever goes silent with the lock held would stop the integrators of all servers: it lapses after ten seconds.
      const lockHead = Effect.map(
        headsOf(sql`
          SELECT ${headColumns}, set_config('idle_in_transaction_session_timeout', '10000', true)
          FROM log_head WHERE id = 1 FOR UPDATE SKIP LOCKED`),
        ([row]) => Option.map(Option.fromUndefinedOr(row), headOf),
      )

      const tiles = Effect.fn("LogStore.tiles")(function* (places: ReadonlyArray<TilePlace>) {
        const asked = JSON.stringify(places.map(({ index, level }) => ({ level, index })))
        const rows = yield* tileRowsOf(sql`
          SELECT t.level::int AS level, t.index, t.hashes
          FROM json_to_recordset(${asked}::json) AS p(level smallint, index bigint)
          JOIN log_tiles t ON t.level = p.level AND t.index = p.index`)
        return readerOf(rows)
      })

      const extend = Effect.fn("LogStore.extend")(function* (
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
      })

      const newestOne = sql`SELECT size, root, note, published_at FROM log_checkpoints ORDER BY size DESC LIMIT 1`

      const newest = Effect.map(checkpointsOf(newestOne), ([row]) =>
        Option.map(Option.fromUndefinedOr(row), publishedOf),
      )

      const publish = Effect.fn("LogStore.publish")(function* ({ root, size }: TreeHead, note: string) {
        yield* sql`
          INSERT INTO log_checkpoints (size, root, note)
          SELECT ${size}::bigint, ${root}::bytea, ${note}::text FROM log_head
          WHERE id = 1 AND size >= ${size}::bigint AND stopped_reason IS NULL
          ON CONFLICT (size) DO NOTHING`
      })

      const cosign = Effect.fn("LogStore.cosign")(function* (size: number, before: string, note: string) {
        yield* sql`
          UPDATE log_checkpoints SET note = ${note}::text
          WHERE size = ${size}::bigint AND note = ${before}::text
            AND EXISTS (SELECT 1 FROM log_head WHERE id = 1 AND stopped_reason IS NULL)`
      })

      const confirm = Effect.fn("LogStore.confirm")(function* (size: number) {
        yield* sql`
          UPDATE log_checkpoints SET published_at = now()
          WHERE size = ${size}::bigint AND EXISTS (SELECT 1 FROM log_head WHERE id = 1 AND stopped_reason IS NULL)`
      })

      const pathColumns = sql.literal(
        "c.size, c.root, c.note, c.published_at, t.level::int AS level, t.index, t.hashes",
      )
      const tilesAbove = (leaf: Statement.Fragment) => sql`
        CROSS JOIN generate_series(0, ${topLevel}::int) AS l(level)
        LEFT JOIN log_tiles t ON t.level = l.level
          AND t.index IN ((${leaf}) >> (8 * (l.level + 1)), c.size >> (8 * (l.level + 1)))`

      const path = Effect.fn("LogStore.path")(function* (leaf: number) {
        const rows = yield* pathsOf(
          sql`WITH newest AS (${newestOne}) SELECT ${pathColumns} FROM newest c ${tilesAbove(sql`${leaf}::bigint`)}`,
        )
        return Option.map(Option.fromUndefinedOr(rows[0]), (first) => ({
          published: publishedOf(first),
          read: tilesOf(rows),
        }))
      })

      const stonePath = Effect.fn("LogStore.stonePath")(function* (link: Statement.Fragment) {
        const rows = yield* stonePathsOf(sql`
          WITH newest AS (${newestOne}), stone AS (${link})
          SELECT s.sequence, s.previous_hash, s.commitment, s.witnessed_at, s.transaction, s.chain_hash, ${pathColumns}
          FROM stone s LEFT JOIN newest c ON true ${tilesAbove(sql.literal("s.sequence - 1"))}`)
        return Option.map(Option.fromUndefinedOr(rows[0]), ({ note, publishedAt, root, size, ...stone }) => ({
          stone,
          path:
            note === null || publishedAt === null || root === null || size === null
              ? Option.none<Path>()
              : Option.some({ published: { size, root, note, at: publishedAt }, read: tilesOf(rows) }),
        }))
      })

      const stop = Effect.fn("LogStore.stop")(function* (reason: string) {
        const stopped = yield* sql`
          UPDATE log_head SET stopped_reason = ${reason}::text, stopped_at = now()
          WHERE id = 1 AND stopped_reason IS NULL RETURNING id`
        return stopped.length > 0
      })

      const resume = Effect.asVoid(sql`UPDATE log_head SET stopped_reason = NULL, stopped_at = NULL WHERE id = 1`)

      return LogStore.of({
        head,
        lockHead,
        tiles,
        extend,
        newest,
        publish,
        cosign,
        confirm,
        path,
        stonePath,
        stop,
        resume,
        atOnce: (effect) => transaction(sql, effect),
      })
    }),
  )
}
