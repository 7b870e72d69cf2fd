/** The files of any C2SP tiled log: at a URL, or in a folder that a mirror filled. */
import { Effect, FileSystem, Option, Path } from "effect"
import type { HttpClient } from "effect/http"
import { type Bytes, concat, Malformed } from "../../../schema/log/Bytes.ts"
import { hashSize, type Range } from "../../../schema/log/Merkle.ts"
import { parseCheckpoint } from "../../../schema/log/Checkpoint.ts"
import { parseNote } from "../../../schema/log/Note.ts"
import {
  type Bundle,
  bundlePath,
  fullWidth,
  parseBundle,
  type Tile,
  tilePath,
  widthAt,
} from "../../../schema/log/Tile.ts"
import { placesOf, type TileReader } from "../../log/Tree.ts"
import { answerLimit } from "../../platform/Answers.ts"
import * as Download from "../verify/Download.ts"
import { plain } from "../Output.ts"
import { CheckFailed, CommandFailure } from "../CommandFailure.ts"

type Reading<A> = Effect.Effect<A, CheckFailed | CommandFailure, HttpClient.HttpClient>

export interface LogSource {
  /** Its URL or folder, without trailing slashes. */
  readonly name: string
  readonly file: (path: string) => Reading<Bytes>
}

export const broken = (what: string) => new CheckFailed({ message: plain(`THE LOG IS BROKEN: ${what}`) })

/** A bundle of any log: 256 entries of 64 kB with their lengths. */
export const fileLimit = 256 * 65_537

export const at = (url: string): LogSource => ({
  name: url,
  file: (path) => Download.bytes(`${url}/${path}`, path === "checkpoint" ? answerLimit : fileLimit),
})

export const inFolder = Effect.fnUntraced(function* (folder: string) {
  const files = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const read = (name: string) =>
    Effect.mapBoth(files.readFile(path.join(folder, name)), {
      onSuccess: (bytes) => concat(bytes),
      onFailure: () => new CommandFailure({ message: `${path.join(folder, name)} cannot be read.` }),
    })
  return { name: folder, file: read } satisfies LogSource
})

export const textOf = (source: LogSource, path: string) =>
  Effect.map(source.file(path), (bytes) => new TextDecoder().decode(bytes))

/** A log may drop a partial file once the full one exists. */
const orFull = (source: LogSource, pathAt: (width: number) => string, width: number) =>
  width === fullWidth
    ? source.file(pathAt(width))
    : Effect.catchTag(source.file(pathAt(width)), "CommandFailure", (first) =>
        Effect.mapError(source.file(pathAt(fullWidth)), () => first),
      )

export const tileOf = (source: LogSource, tile: Tile) =>
  Effect.map(
    orFull(source, (width) => tilePath({ ...tile, width }), tile.width),
    (bytes) => bytes.slice(0, tile.width * hashSize),
  )

/** Reads all tiles that the hashes of these ranges come from. */
export const tilesOf = (source: LogSource, ranges: ReadonlyArray<Range>, size: number) =>
  Effect.map(
    Effect.forEach(placesOf(ranges), (place) =>
      Effect.map(tileOf(source, { ...place, width: widthAt(size, place) }), (bytes) => ({ place, bytes })),
    ),
    (tiles): TileReader =>
      ({ index, level }) =>
        tiles.find(({ place }) => place.level === level && place.index === index)?.bytes,
  )

/** Exactly the entries of a bundle. */
export const entriesOf = Effect.fnUntraced(function* (source: LogSource, { index, width }: Bundle) {
  const path = bundlePath({ index, width })
  const entries = parseBundle(yield* orFull(source, (wide) => bundlePath({ index, width: wide }), width))
  if (entries instanceof Malformed) return yield* broken(`${path}: ${entries.message}`)
  // An inexact full bundle is wrong; of one that was grown, the first entries are meant.
  if (entries.length !== width && entries.length !== fullWidth) {
    return yield* broken(`${path} has ${entries.length} entries.`)
  }
  return entries.slice(0, width)
})

const isNote = (text: string) => {
  const note = parseNote(text)
  return !(note instanceof Malformed) && !(parseCheckpoint(note.text) instanceof Malformed)
}

/** The URL of a log's files, from that or from the altar's: a log has its checkpoint right there. */
export const locate = Effect.fn("LogSource.locate")(function* (given: string) {
  const url = given.replace(/\/+$/u, "")
  if (Option.exists(yield* Effect.option(Download.text(`${url}/checkpoint`)), isNote)) return url
  if (isNote(yield* Download.text(`${url}/log/checkpoint`))) return `${url}/log`
  return yield* new CommandFailure({ message: plain(`${url}/log/checkpoint is no checkpoint.`) })
})
