/** The local memory of log checks: the last trusted checkpoint, and the place that a walk has reached. */
import { Effect, FileSystem, Option, Path, Schema } from "effect"
import { hex } from "../../../schema/log/Bytes.ts"
import type { Checkpoint } from "../../../schema/log/Checkpoint.ts"
import { hashSize } from "../../../schema/log/Merkle.ts"
import { hashesOf, tileBytes } from "../../log/Tree.ts"
import * as DurableFile from "../../platform/DurableFile.ts"
import type { Walk } from "./Walk.ts"
import { folderOf } from "../buyer/Session.ts"
import { CommandFailure } from "../CommandFailure.ts"

/** The last trusted key and note, and whether only the server has named the key. */
export const SeenCheckpoint = Schema.fromJsonString(
  Schema.Struct({
    vkey: Schema.String,
    checkpoint: Schema.String,
    /** Absent in files of earlier versions: then it is unknown. */
    isItsOwnWord: Schema.Boolean.pipe(Schema.optionalKey),
  }),
)

export type SeenCheckpoint = typeof SeenCheckpoint.Type

/** A place of a walk; `old` is the checkpoint that the walk compares with, if any. */
const Place = Schema.fromJsonString(
  Schema.Struct({
    vkey: Schema.String,
    old: Schema.NullOr(Schema.String),
    size: Schema.Int,
    chainHash: Schema.NullOr(Schema.String),
    /** For each level, the hashes of its last tile, in hex. */
    edge: Schema.Array(Schema.String),
  }),
)
export type Place = typeof Place.Type

const place = (walk: Walk) => ({
  size: walk.size,
  chainHash: walk.chainHash,
  edge: walk.edge.map((hashes) => hex(tileBytes(hashes))),
})

const isPlace = ({ edge, size }: Place) => size > 0 && edge.every((row) => row.length % (2 * hashSize) === 0)

export const make = Effect.fn("LogMemory.make")(function* (base: string, named: Option.Option<string>) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const folder = yield* folderOf(Option.none())
  // One file for each altar, beside the journal.
  const usual = `${base.replace(/^https?:\/\//u, "").replaceAll(/[^\w.-]/gu, "_")}.json`
  const file = Option.getOrElse(named, () => path.join(folder, "checkpoints", usual))
  const placeFile = `${file}.walk`

  const read = (name: string) =>
    Effect.flatMap(
      Effect.orElseSucceed(fs.exists(name), () => false),
      (isThere) => (isThere ? Effect.asSome(fs.readFileString(name)) : Effect.succeedNone),
    )

  const write = (name: string, text: string) =>
    fs.makeDirectory(path.dirname(name), { recursive: true }).pipe(
      Effect.andThen(DurableFile.write(name, text)),
      Effect.provideService(FileSystem.FileSystem, fs),
      Effect.mapError(
        () =>
          new CommandFailure({
            message: `${name} cannot be written, so the check would not be remembered: name another file with --seen.`,
          }),
      ),
    )

  const forgetPlace = Effect.ignore(fs.remove(placeFile, { force: true }))

  return {
    file,
    seen: Effect.flatMap(
      Effect.mapError(read(file), () => new CommandFailure({ message: `${file} cannot be read.` })),
      Option.match({
        onNone: () => Effect.succeedNone,
        onSome: (text) =>
          Effect.mapError(
            Effect.asSome(Schema.decodeEffect(SeenCheckpoint)(text)),
            () => new CommandFailure({ message: `${file} has an unknown format: an earlier check did not write it.` }),
          ),
      }),
    ),
    /** The last unfinished walk with this key and the same older checkpoint; an outdated one is ignored. */
    left: (vkey: string, old: string | null) =>
      read(placeFile).pipe(
        Effect.flatMap((text) => Effect.flatMap(Effect.fromOption(text), Schema.decodeEffect(Place))),
        Effect.option,
        Effect.map(Option.filter((one) => isPlace(one) && one.vkey === vkey && one.old === old)),
        Effect.map(
          Option.map(({ chainHash, edge, size }): Walk => ({
            size,
            chainHash,
            edge: edge.map((row) => hashesOf(Uint8Array.from(Buffer.from(row, "hex")))),
          })),
        ),
      ),
    save: (vkey: string, old: string | null) => (walk: Walk) =>
      write(placeFile, JSON.stringify({ vkey, old, ...place(walk) })),
    forgetPlace,
    /** Stores a note that contradicts the remembered one, and returns its file, which is the same for the same note. */
    keep: (note: string, { root, size }: Checkpoint) => {
      const name = `${file}.${size}-${hex(root).slice(0, 8)}.checkpoint`
      return Effect.as(write(name, note), name)
    },
    /** Ends a check: stores its checkpoint and deletes the place within it. */
    remember: (seen: SeenCheckpoint) => write(file, JSON.stringify(seen)).pipe(Effect.andThen(forgetPlace)),
  }
})
