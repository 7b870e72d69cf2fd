/** What the database keeps of the log. Every step of it is one statement: a server may die between any two. */
import { Context, Effect, Layer, Option, Schema, SchemaTransformation } from "effect"
import { SqlClient, type SqlError, type Statement } from "effect/sql"
import type { ChainLink } from "../../schema/altar/ChainLink.ts"
import { hex } from "../../schema/log/Bytes.ts"
import type { TilePlace } from "../../schema/log/Tile.ts"
import { transaction } from "../platform/Sql.ts"
import { type Growth, tileBytes, type TileReader } from "./Tree.ts"

/** A tree by its size and the hash over all of it. */
export interface TreeHead {
  readonly size: number
  readonly root: Uint8Array
}

/** How far the tree is built; `stopped` is why nothing is appended or signed any more. */
export interface LogHead extends TreeHead {
  readonly stopped: Option.Option<{ readonly reason: string; readonly at: Date }>
}

/** A checkpoint as it was signed and published. */
export interface Published extends TreeHead {
  readonly note: string
  readonly at: Date
}

const Count = Schema.BigInt.pipe(
  Schema.decodeTo(Schema.Int, SchemaTransformation.transform({ decode: Number, encode: BigInt })),
)

const HeadRow = Schema.Struct({
  size: Count,
  root: Schema.Uint8Array,
  stoppedReason: Schema.NullOr(Schema.String),
  stoppedAt: Schema.NullOr(Schema.Date),
})

const TileRow = Schema.Struct({ level: Schema.Int, index: Count, hashes: Schema.Uint8Array })

const PublishedRow = Schema.Struct({
  size: Count,
  root: Schema.Uint8Array,
  note: Schema.String,
  publishedAt: Schema.Date,
})

const PathRow = Schema.Struct({
  ...PublishedRow.fields,
  level: Schema.NullOr(Schema.Int),
  index: Schema.NullOr(Count),
  hashes: Schema.NullOr(Schema.Uint8Array),
})

/** A stone, the newest checkpoint if there is one, and a tile if there is one. */
const StonePathRow = Schema.Struct({
  sequence: Count,
  previousHash: Schema.String,
  commitment: Schema.String,
  witnessedAt: Schema.String,
  transaction: Schema.String,
  chainHash: Schema.String,
  size: Schema.NullOr(Count),
  root: Schema.NullOr(Schema.Uint8Array),
  note: Schema.NullOr(Schema.String),
  publishedAt: Schema.NullOr(Schema.Date),
  level: PathRow.fields.level,
  index: PathRow.fields.index,
  hashes: PathRow.fields.hashes,
})

const ExtendedRow = Schema.Struct({ tiles: Count, heads: Count })

/** A wrong row is nobody's mistake but ours. */
const rowsOf = <S extends Schema.Constraint>(schema: S) => {
  const decode = Schema.decodeUnknownEffect(Schema.Array(schema))
  return (rows: ReadonlyArray<unknown>) => Effect.orDie(decode(rows))
}

const headOf = ({ root, size, stoppedAt, stoppedReason }: typeof HeadRow.Type): LogHead => ({
  size,
  root,
  stopped:
    stoppedReason === null || stoppedAt === null
      ? Option.none()
      : Option.some({ reason: stoppedReason, at: stoppedAt }),
})

const publishedOf = ({ note, publishedAt, root, size }: typeof PublishedRow.Type): Published => ({
  size,
  root,
  note,
  at: publishedAt,
})

const readerOf = (rows: ReadonlyArray<typeof TileRow.Type>): TileReader => {
  const tiles = new Map(rows.map(({ hashes, index, level }) => [`${level}/${index}`, hashes]))
  return ({ index, level }) => tiles.get(`${level}/${index}`)
}

const tilesOf = (rows: ReadonlyArray<Pick<typeof PathRow.Type, "level" | "index" | "hashes">>) =>
  readerOf(
    rows.flatMap(({ hashes, index, level }) =>
      level === null || index === null || hashes === null ? [] : [{ level, index, hashes }],
    ),
  )

/** The newest checkpoint with tiles below it. */
export interface Path {
  readonly published: Published
  readonly read: TileReader
}

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
      const headRows = rowsOf(HeadRow)
      const tileRows = rowsOf(TileRow)
      const publishedRows = rowsOf(PublishedRow)
      const pathRows = rowsOf(PathRow)
      const stonePathRows = rowsOf(StonePathRow)
      const extendedRows = rowsOf(ExtendedRow)
      const headColumns = sql.literal("size, root, stopped_reason, stopped_at")

      const head = sql`SELECT ${headColumns} FROM log_head WHERE id = 1`.pipe(
        Effect.flatMap(headRows),
        Effect.flatMap(([row]) =>
          row === undefined ? Effect.die("the log has no head") : Effect.succeed(headOf(row)),
        ),
      )

      // Whoever goes silent with the lock held would stop the integrators of all servers: it lapses after ten seconds.
      const lockHead = sql`
        SELECT ${headColumns}, set_config('idle_in_transaction_session_timeout', '10000', true)
        FROM log_head WHERE id = 1 FOR UPDATE SKIP LOCKED`.pipe(
        Effect.flatMap(headRows),
        Effect.map(([row]) => Option.map(Option.fromUndefinedOr(row), headOf)),
      )

      const tiles = Effect.fn("LogStore.tiles")(function* (places: ReadonlyArray<TilePlace>) {
        const asked = JSON.stringify(places.map(({ index, level }) => ({ level, index })))
        const rows = yield* sql`
          SELECT t.level::int AS level, t.index, t.hashes
          FROM json_to_recordset(${asked}::json) AS p(level smallint, index bigint)
          JOIN log_tiles t ON t.level = p.level AND t.index = p.index`
        return readerOf(yield* tileRows(rows))
      })

      const extend = Effect.fn("LogStore.extend")(function* (
        from: number,
        growths: ReadonlyArray<Growth>,
        { root, size }: TreeHead,
      ) {
        const grown = JSON.stringify(
          growths.map(({ hashes, index, level, start }) => ({ level, index, start, hashes: hex(tileBytes(hashes)) })),
        )
        const [done] = yield* Effect.flatMap(
          sql`
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
            (SELECT count(*) FROM moved) AS heads`,
          extendedRows,
        )
        return done?.tiles === growths.length && done.heads === 1
      })

      const newest = sql`
        SELECT size, root, note, published_at FROM log_checkpoints ORDER BY size DESC LIMIT 1`.pipe(
        Effect.flatMap(publishedRows),
        Effect.map(([row]) => Option.map(Option.fromUndefinedOr(row), publishedOf)),
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

      const newestOne = sql`SELECT size, root, note, published_at FROM log_checkpoints ORDER BY size DESC LIMIT 1`
      const pathColumns = sql.literal(
        "c.size, c.root, c.note, c.published_at, t.level::int AS level, t.index, t.hashes",
      )
      const tilesAbove = (leaf: Statement.Fragment) => sql`
        CROSS JOIN generate_series(0, ${topLevel}::int) AS l(level)
        LEFT JOIN log_tiles t ON t.level = l.level
          AND t.index IN ((${leaf}) >> (8 * (l.level + 1)), c.size >> (8 * (l.level + 1)))`

      const path = Effect.fn("LogStore.path")(function* (leaf: number) {
        const rows = yield* Effect.flatMap(
          sql`WITH newest AS (${newestOne}) SELECT ${pathColumns} FROM newest c ${tilesAbove(sql`${leaf}::bigint`)}`,
          pathRows,
        )
        return Option.map(Option.fromUndefinedOr(rows[0]), (first) => ({
          published: publishedOf(first),
          read: tilesOf(rows),
        }))
      })

      const stonePath = Effect.fn("LogStore.stonePath")(function* (link: Statement.Fragment) {
        const rows = yield* Effect.flatMap(
          sql`
          WITH newest AS (${newestOne}), stone AS (${link})
          SELECT s.sequence, s.previous_hash, s.commitment, s.witnessed_at, s.transaction, s.chain_hash, ${pathColumns}
          FROM stone s LEFT JOIN newest c ON true ${tilesAbove(sql.literal("s.sequence - 1"))}`,
          stonePathRows,
        )
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
