/** Rows of the log's tables and their decoders. */
import { Option, Schema } from "effect"
import { rowsOf, Whole } from "../platform/Rows.ts"
import { foundColumns } from "./Entries.ts"
import { StopCode } from "./StopReason.ts"
import type { TileReader } from "./Tree.ts"

/** The size of a tree and its root hash. */
export interface TreeHead {
  readonly size: number
  readonly root: Uint8Array
}

/** The state of the tree. `stopped` is the reason why nothing is appended or signed any more. */
export interface LogHead extends TreeHead {
  readonly stopped: Option.Option<{ readonly code: StopCode; readonly reason: string; readonly at: Date }>
  /** Seconds until the next checkpoint may be signed; 0 when it may be now. */
  readonly rest: number
}

/** A checkpoint as signed and published. */
export interface Published extends TreeHead {
  readonly note: string
  readonly at: Date
}

const HeadRow = Schema.Struct({
  size: Whole,
  root: Schema.Uint8Array,
  stoppedCode: Schema.NullOr(StopCode),
  stoppedReason: Schema.NullOr(Schema.String),
  stoppedAt: Schema.NullOr(Schema.Date),
  rest: Schema.Int,
})

const TileRow = Schema.Struct({ level: Schema.Int, index: Whole, hashes: Schema.Uint8Array })

const PublishedRow = Schema.Struct({
  size: Whole,
  root: Schema.Uint8Array,
  note: Schema.String,
  publishedAt: Schema.Date,
})

const PathRow = Schema.Struct({
  ...PublishedRow.fields,
  level: Schema.NullOr(Schema.Int),
  index: Schema.NullOr(Whole),
  hashes: Schema.NullOr(Schema.Uint8Array),
})

/** An entry, with the newest checkpoint and a tile if there are any. */
const EntryPathRow = Schema.Struct({
  ...foundColumns,
  size: Schema.NullOr(Whole),
  root: Schema.NullOr(Schema.Uint8Array),
  note: Schema.NullOr(Schema.String),
  publishedAt: Schema.NullOr(Schema.Date),
  level: PathRow.fields.level,
  index: PathRow.fields.index,
  hashes: PathRow.fields.hashes,
})

const ExtendedRow = Schema.Struct({ tiles: Whole, heads: Whole })

export const headsOf = rowsOf("log_head", HeadRow)
export const tileRowsOf = rowsOf("log_tiles", TileRow)
export const checkpointsOf = rowsOf("log_checkpoints", PublishedRow)
export const pathsOf = rowsOf("log_checkpoints", PathRow)
export const entryPathsOf = rowsOf("log_checkpoints", EntryPathRow)
export const extendedOf = rowsOf("log_tiles", ExtendedRow)

export const headOf = ({ rest, root, size, stoppedAt, stoppedCode, stoppedReason }: typeof HeadRow.Type): LogHead => ({
  size,
  root,
  rest,
  stopped:
    stoppedCode === null || stoppedReason === null || stoppedAt === null
      ? Option.none()
      : Option.some({ code: stoppedCode, reason: stoppedReason, at: stoppedAt }),
})

export const publishedOf = ({ note, publishedAt, root, size }: typeof PublishedRow.Type): Published => ({
  size,
  root,
  note,
  at: publishedAt,
})

export const readerOf = (rows: ReadonlyArray<typeof TileRow.Type>): TileReader => {
  const tiles = new Map(rows.map(({ hashes, index, level }) => [`${level}/${index}`, hashes]))
  return ({ index, level }) => tiles.get(`${level}/${index}`)
}

export const tilesOf = (rows: ReadonlyArray<Pick<typeof PathRow.Type, "level" | "index" | "hashes">>) =>
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
