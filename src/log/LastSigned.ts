/** The last checkpoint this server signed, stored outside the database, since a restored backup lacks newer ones. */
import { Context, Effect, FileSystem, Layer, Option, Schema, Semaphore } from "effect"
import { Malformed } from "../../schema/log/Bytes.ts"
import { parseCheckpoint } from "../../schema/log/Checkpoint.ts"
import { parseNote } from "../../schema/log/Note.ts"
import * as DurableFile from "../platform/DurableFile.ts"
import type { TreeHead } from "./LogRows.ts"

/** The stored checkpoint cannot be read or written. Nothing may be signed that might contradict it. */
export class LastSignedLost extends Schema.TaggedError<LastSignedLost>()("LastSignedLost", {
  message: Schema.String,
}) {}

export class LastSigned extends Context.Service<
  LastSigned,
  {
    /** Whether checkpoints are stored at all. */
    readonly isKept: boolean
    readonly recall: Effect.Effect<Option.Option<TreeHead>, LastSignedLost>
    /** Durable when it returns. Fails if the stored checkpoint covers more, which another server must have written. */
    remember(note: string): Effect.Effect<void, LastSignedLost>
  }
>()("spirit-altar/log/LastSigned") {
  /** Stores nothing. Only witnesses and readers of the log would notice a restored backup. */
  static readonly none = Layer.succeed(LastSigned, {
    isKept: false,
    recall: Effect.succeedNone,
    remember: () => Effect.void,
  })

  /** Stores the note of the log of this origin in a file. */
  static readonly file = (path: string, origin: string) =>
    Layer.effect(
      LastSigned,
      Effect.gen(function* () {
        const files = yield* FileSystem.FileSystem
        const lost = (what: string) => new LastSignedLost({ message: `${path} ${what}` })

        const turn = yield* Semaphore.make(1)

        const recall = Effect.gen(function* () {
          if (!(yield* files.exists(path))) return Option.none<TreeHead>()
          const note = parseNote(yield* files.readFileString(path))
          const checkpoint = note instanceof Malformed ? note : parseCheckpoint(note.text)
          if (checkpoint instanceof Malformed) return yield* lost(`is no checkpoint: ${checkpoint.message}`)
          if (checkpoint.origin !== origin) return yield* lost(`is of the log ${checkpoint.origin}, not of ${origin}`)
          return Option.some<TreeHead>(checkpoint)
        }).pipe(Effect.catchTag("PlatformError", ({ message }) => lost(`cannot be read: ${message}`)))

        const remember = Effect.fn("LastSigned.remember")(
          function* (note: string) {
            const parsed = parseNote(note)
            const fresh = parsed instanceof Malformed ? parsed : parseCheckpoint(parsed.text)
            if (fresh instanceof Malformed) return yield* lost(`was to be no checkpoint: ${fresh.message}`)
            const kept = yield* recall
            if (Option.isSome(kept) && kept.value.size > fresh.size) {
              return yield* lost(
                `holds a checkpoint of ${kept.value.size} entries, and ${fresh.size} were to be signed: each server needs a file of its own`,
              )
            }
            return yield* DurableFile.write(path, note)
          },
          turn.withPermit,
          Effect.provideService(FileSystem.FileSystem, files),
          Effect.catchTag("PlatformError", ({ message }) => lost(`cannot be written: ${message}`)),
        )

        return LastSigned.of({ isKept: true, recall, remember })
      }),
    )
}
