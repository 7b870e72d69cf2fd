/** The last checkpoint a witness signed of each log, in files. The witness reads it before each signature. */
import { DatabaseSync } from "node:sqlite"
import { join } from "node:path"
import { Context, Effect, FileSystem, Layer, Option, Schema } from "effect"
import { Malformed, hex, utf8 } from "../../../schema/log/Bytes.ts"
import { type Checkpoint, parseCheckpoint } from "../../../schema/log/Checkpoint.ts"
import { parseNote } from "../../../schema/log/Note.ts"
import * as DurableFile from "../../platform/DurableFile.ts"
import { sha256 } from "../Tree.ts"

/** The folder is unusable. Nothing may be signed that might contradict its content. */
export class MemoryLost extends Schema.TaggedError<MemoryLost>()("MemoryLost", { message: Schema.String }) {}

export interface Remembered {
  readonly checkpoint: Checkpoint
  /** The cosigned note, including that signature. */
  readonly note: string
}

/** The name of a log in a path: the SHA-256 of its origin in hex. */
export const nameOf = (origin: string): string => hex(sha256(utf8(origin)))

/** Files in a folder that this witness alone uses until its layer ends. */
export class Memory extends Context.Service<Memory>()("spirit-altar/log/witness/Memory", {
  make: (folder: string) =>
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const fileOf = (name: string) => join(folder, `${name}.checkpoint`)
      const lost = (message: string) => new MemoryLost({ message })

      // Two witnesses with one folder could sign two histories. SQLite's lock is released when its holder dies in any
      // way.
      yield* Effect.acquireRelease(
        Effect.try({
          try: () => {
            const database = new DatabaseSync(join(folder, "witness.lock"), { timeout: 0 })
            database.exec("PRAGMA journal_mode = MEMORY; BEGIN IMMEDIATE")
            return database
          },
          catch: () => lost(`${folder} cannot be locked: another witness uses it, or it cannot be written.`),
        }),
        (database) => Effect.sync(() => database.close()),
      )

      const recall = Effect.fn("Memory.recall")(
        function* (name: string) {
          const file = fileOf(name)
          if (!(yield* files.exists(file))) return Option.none<Remembered>()
          const text = yield* files.readFileString(file)
          const note = parseNote(text)
          const checkpoint = note instanceof Malformed ? note : parseCheckpoint(note.text)
          return checkpoint instanceof Malformed
            ? yield* lost(`${file} is no checkpoint: ${checkpoint.message}`)
            : Option.some({ checkpoint, note: text })
        },
        Effect.catchTag("PlatformError", ({ message }) => lost(`The folder cannot be read: ${message}`)),
      )

      const remember = Effect.fn("Memory.remember")(
        (name: string, note: string) => DurableFile.write(fileOf(name), note),
        Effect.provideService(FileSystem.FileSystem, files),
        Effect.catchTag("PlatformError", ({ message }) => lost(`The folder cannot be written: ${message}`)),
      )

      return {
        /** The last checkpoint of the log with this name. */
        recall,
        /** Durable when it returns. */
        remember,
      }
    }),
}) {
  static readonly folder = (folder: string) => Layer.effect(Memory, Memory.make(folder))
}
