/** The last checkpoint that a check verified on this machine, in a file. */
import { Effect, FileSystem, Option, Path, Schema } from "effect"
import { hex } from "../../../schema/log/Bytes.ts"
import type { Checkpoint } from "../../../schema/log/Checkpoint.ts"
import * as DurableFile from "../../platform/DurableFile.ts"
import { folderOf } from "../buyer/Session.ts"
import { CommandFailure } from "../CommandFailure.ts"

const Seen = Schema.fromJsonString(
  Schema.Struct({
    vkey: Schema.String,
    /** The verified note. */
    checkpoint: Schema.String,
    /** Whether the reader named the key in this or an earlier check. */
    isNamed: Schema.Boolean,
  }),
)
export type Seen = typeof Seen.Type

/** The file is `named`, or else one for each altar beside the journal. */
export const make = Effect.fn("Seen.make")(function* (altar: string, named: Option.Option<string>) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const folder = yield* folderOf(Option.none())
  const usual = `${altar.replace(/^https?:\/\//u, "").replaceAll(/[^\w.-]/gu, "_")}.json`
  const file = Option.getOrElse(named, () => path.join(folder, "checkpoints", usual))

  const write = (name: string, text: string) =>
    fs.makeDirectory(path.dirname(name), { recursive: true }).pipe(
      Effect.andThen(DurableFile.write(name, text)),
      Effect.provideService(FileSystem.FileSystem, fs),
      Effect.mapError(() => new CommandFailure({ message: `${name} cannot be written. Name another with --seen.` })),
    )

  return {
    file,
    last: Effect.gen(function* () {
      if (!(yield* Effect.orElseSucceed(fs.exists(file), () => false))) return Option.none<Seen>()
      return Option.some(yield* Effect.flatMap(fs.readFileString(file), Schema.decodeEffect(Seen)))
    }).pipe(
      Effect.mapError(() => new CommandFailure({ message: `${file} cannot be read, or no check has written it.` })),
    ),
    remember: (seen: Seen) => write(file, JSON.stringify(seen)),
    /** Stores a note that contradicts the last one, and returns its file. */
    keep: (note: string, { root, size }: Checkpoint) => {
      const name = `${file}.${size}-${hex(root).slice(0, 8)}.checkpoint`
      return Effect.as(write(name, note), name)
    },
  }
})
