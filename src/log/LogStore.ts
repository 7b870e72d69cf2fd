/** The tables of the log. Each step is one statement, since a server may die between any two. */
import { Context, Effect, Layer, Option, Schema } from "effect"
import { SqlClient, type SqlError, type Statement } from "effect/sql"
import { hex, Malformed } from "../../schema/log/Bytes.ts"
import { parseNote } from "../../schema/log/Note.ts"
import type { TilePlace } from "../../schema/log/Tile.ts"
import { log } from "../platform/LogMessages.ts"
import { rowsOf, Whole } from "../platform/Rows.ts"
import { transaction } from "../platform/Sql.ts"
import { LogKeyInvalid, type Signer } from "./Signer.ts"
import { logVerifier } from "./Verifier.ts"
import { type Growth, tileBytes, type TileReader, type TreeHead } from "./Tree.ts"

/**
 * The object to inspect: signed stones are missing here (`backup`), or a table was changed: `checkpoints`, `tiles`, or
 * the stones (`entries`).
 */
export const StopCode = Schema.Literals(["backup", "checkpoints", "tiles", "entries"])
export type StopCode = typeof StopCode.Type

/** Stored data contradicts a signed checkpoint, or itself. `code` has its own advice for the operator. */
export class Contradiction extends Schema.TaggedError<Contradiction>()("Contradiction", {
  code: StopCode,
  detail: Schema.String,
}) {}

export const contradiction = (code: StopCode, detail: string) => new Contradiction({ code, detail })

/** Nothing is appended or signed for the given `reason`. Sales continue. */
export class LogStopped extends Schema.TaggedError<LogStopped>()("LogStopped", { reason: Schema.String }) {}

const TreeColumns = { size: Whole, root: Schema.Uint8Array }

/**
 * The tree, why nothing is appended or signed any more, what a server waits for before it signs, and the seconds until
 * the next checkpoint may be signed.
 */
const Head = Schema.Struct({
  ...TreeColumns,
  stopped: Schema.OptionFromNullOr(Schema.Struct({ code: StopCode, reason: Schema.String, at: Schema.DateFromString })),
  waits: Schema.OptionFromNullOr(Schema.Struct({ for: Schema.String, since: Schema.DateFromString })),
  rest: Schema.Int,
})

export interface LogState {
  readonly state: "running" | "waiting" | "stopped"
  /** The input without which nothing is signed, while the log is `waiting`. */
  readonly waitsFor: string | null
  /** Since when it does not run. */
  readonly since: string | null
}

/** The state of the log, for servers and commands alike. */
export const stateOf = ({ stopped, waits }: typeof Head.Type): LogState => {
  if (Option.isSome(stopped)) return { state: "stopped", waitsFor: null, since: stopped.value.at.toISOString() }
  if (Option.isNone(waits)) return { state: "running", waitsFor: null, since: null }
  return { state: "waiting", waitsFor: waits.value.for, since: waits.value.since.toISOString() }
}

/** A checkpoint as signed and published. */
const Checkpoint = Schema.Struct({ ...TreeColumns, note: Schema.String, at: Schema.Date })
export type Published = typeof Checkpoint.Type

const Tile = Schema.Struct({ level: Schema.Int, index: Whole, hashes: Schema.Uint8Array })

/** An entry, with the newest checkpoint and a tile if there are any. An entry without a position is in no tree yet. */
const PathRow = Schema.Struct({
  sequence: Schema.NullOr(Whole),
  parts: Schema.Array(Schema.String),
  size: Schema.NullOr(Whole),
  root: Schema.NullOr(Schema.Uint8Array),
  note: Schema.NullOr(Schema.String),
  at: Schema.NullOr(Schema.Date),
  level: Schema.NullOr(Schema.Int),
  index: Schema.NullOr(Whole),
  hashes: Schema.NullOr(Schema.Uint8Array),
})

const headsOf = rowsOf("log_head", Head)
const tilesOf = rowsOf("log_tiles", Tile)
const checkpointsOf = rowsOf("log_checkpoints", Checkpoint)
const pathsOf = rowsOf("log_checkpoints", PathRow)
const extendedOf = rowsOf("log_tiles", Schema.Struct({ tiles: Whole, heads: Whole }))

const readerOf = (rows: ReadonlyArray<Pick<typeof PathRow.Type, "level" | "index" | "hashes">>): TileReader => {
  const tiles = new Map(rows.map(({ hashes, index, level }) => [`${level}/${index}`, hashes]))
  return ({ index, level }) => tiles.get(`${level}/${index}`) ?? undefined
}

/** The newest checkpoint with tiles below it. */
export interface Path {
  readonly published: Published
  readonly tileAt: TileReader
}

const pathIn = (rows: ReadonlyArray<typeof PathRow.Type>): Option.Option<Path> => {
  const { at = null, note = null, root = null, size = null } = rows[0] ?? {}
  return at === null || note === null || root === null || size === null
    ? Option.none()
    : Option.some({ published: { size, root, note, at }, tileAt: readerOf(rows) })
}

/** Maximum level of a tree of 2^53 leaves. */
const topLevel = 6

export class LogStore extends Context.Service<LogStore>()("spirit-altar/log/LogStore", {
  make: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const headColumns = sql.literal(`
      size, root, greatest(0, ceil(extract(epoch FROM rests_until - now())))::int AS rest,
      CASE WHEN stopped_at IS NOT NULL THEN
        json_build_object('code', stopped_code, 'reason', stopped_reason, 'at', stopped_at) END AS stopped,
      CASE WHEN waits_for IS NOT NULL THEN json_build_object('for', waits_for, 'since', waits_since) END AS waits`)
    const running = sql`EXISTS (SELECT 1 FROM log_head WHERE id = 1 AND stopped_at IS NULL)`
    const newestOne = sql`SELECT size, root, note, published_at AS at FROM log_checkpoints ORDER BY size DESC LIMIT 1`
    const newest = Effect.map(checkpointsOf(newestOne), ([row]) => Option.fromUndefinedOr(row))

    return {
      head: Effect.flatMap(headsOf(sql`SELECT ${headColumns} FROM log_head WHERE id = 1`), ([head]) =>
        head === undefined ? Effect.die("the log has no head") : Effect.succeed(head),
      ),

      // The head, locked until the end of the transaction; none while another server holds it.
      lockHead: Effect.map(
        headsOf(sql`SELECT ${headColumns} FROM log_head WHERE id = 1 FOR UPDATE SKIP LOCKED`),
        ([head]) => Option.fromUndefinedOr(head),
      ),

      tiles: Effect.fn("LogStore.tiles")(function* (places: ReadonlyArray<TilePlace>) {
        const placesJson = JSON.stringify(places.map(({ index, level }) => ({ level, index })))
        const rows = yield* tilesOf(sql`
          SELECT t.level::int AS level, t.index, t.hashes
          FROM json_to_recordset(${placesJson}::json) AS p(level smallint, index bigint)
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

      newest,

      /** Fails if another key signed the newest checkpoint. The log could only stop. */
      signedBy: ({ vkey }: Signer) =>
        Effect.flatMap(newest, (published) => {
          const [note, verifier] = [parseNote(Option.getOrUndefined(published)?.note ?? ""), logVerifier(vkey)]
          return note instanceof Malformed || verifier instanceof Malformed || note.signatures.some(verifier.isNamed)
            ? Effect.void
            : Effect.fail(
                new LogKeyInvalid({
                  message: `LOG_KEY is wrong: another key, of ${note.signatures[0]?.name}, signed the log of this database. Set that key.`,
                }),
              )
        }),

      /** Claims the next checkpoint and begins the pause after it. False while a pause lasts, on any server. */
      takeTurn: (seconds: number) =>
        Effect.map(
          sql`
            UPDATE log_head SET rests_until = now() + make_interval(secs => ${seconds})
            WHERE id = 1 AND rests_until <= now() RETURNING id`,
          (taken) => taken.length > 0,
        ),

      /** Records what the log waits for, and since when; with null, that it waits no longer. */
      wait: (evidence: string | null) =>
        Effect.asVoid(sql`
          UPDATE log_head SET waits_for = ${evidence}::text, waits_since = now()
          WHERE id = 1 AND waits_for IS DISTINCT FROM ${evidence}::text`),

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
       * An entry that a statement finds by `sequence` and `parts`, the newest checkpoint, and the tiles above the entry's
       * leaf and at the tree's right edge: all that a tile, a bundle or a proof needs, in one round trip.
       */
      path: Effect.fn("LogStore.path")(function* (find: Statement.Fragment) {
        const rows = yield* pathsOf(sql`
          WITH newest AS (${newestOne}), entry AS (${find})
          SELECT e.sequence, e.parts, c.size, c.root, c.note, c.at, t.level::int AS level, t.index, t.hashes
          FROM entry e LEFT JOIN newest c ON true
          CROSS JOIN generate_series(0, ${topLevel}::int) AS l(level)
          LEFT JOIN log_tiles t ON t.level = l.level
            AND t.index IN ((e.sequence - 1) >> (8 * (l.level + 1)), c.size >> (8 * (l.level + 1)))`)
        return Option.map(Option.fromUndefinedOr(rows[0]), ({ parts, sequence }) => ({
          sequence,
          parts,
          path: pathIn(rows),
        }))
      }),

      /** Stops the log and raises the alarm once, even if the same fault is found repeatedly. */
      stop: Effect.fn("LogStore.stop")(function* ({
        code,
        detail,
      }: Pick<Contradiction, "code" | "detail">): Effect.fn.Return<never, LogStopped | SqlError.SqlError> {
        const first = yield* sql`
          UPDATE log_head SET stopped_code = ${code}::text, stopped_reason = ${detail}::text, stopped_at = now()
          WHERE id = 1 AND stopped_at IS NULL RETURNING id`
        if (first.length > 0) yield* log("log stopped", { code, reason: detail })
        return yield* new LogStopped({ reason: detail })
      }),

      /** Clears the reason after an operator has fixed its cause. Remaining faults stop the log again. */
      resume: Effect.asVoid(sql`
        UPDATE log_head SET stopped_code = NULL, stopped_reason = NULL, stopped_at = NULL WHERE id = 1`),

      atOnce: yield* transaction,
    }
  }),
}) {
  static readonly layer = Layer.effect(LogStore, LogStore.make)
}
