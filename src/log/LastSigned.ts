/** The last checkpoint this server signed, stored outside the database, since a restored backup lacks newer ones. */
import { Context, Effect, FileSystem, Layer, Option, Ref, Schema } from "effect"
import { Malformed } from "../../schema/log/Bytes.ts"
import { parseSigned } from "../../schema/log/Checkpoint.ts"
import * as DurableFile from "../platform/DurableFile.ts"
import type { TreeHead } from "./Tree.ts"

/** The stored checkpoint cannot be read or written. Nothing may be signed that might contradict it. */
export class LastSignedLost extends Schema.TaggedError<LastSignedLost>()("LastSignedLost", {
  /** The fault of the file, without its path. */
  what: Schema.String,
}) {
  override get message() {
    return `LOG_CHECKPOINT_FILE ${this.what}`
  }
}

export class LastSigned extends Context.Service<
  LastSigned,
  {
    /** Whether it outlives the server. */
    readonly isDurable: boolean
    readonly recall: Effect.Effect<Option.Option<TreeHead>, LastSignedLost>
    /** Stored when it returns. Fails if the stored checkpoint covers more, which another server must have written. */
    remember(signed: TreeHead & { readonly note: string }): Effect.Effect<void, LastSignedLost>
  }
>()("spirit-altar/log/LastSigned") {
  /** Remembers while the server runs. After that, only cosigners and readers would notice a restored backup. */
  static readonly memory = Layer.effect(
    LastSigned,
    Effect.map(Ref.make(Option.none<TreeHead>()), (kept) => ({
      isDurable: false,
      recall: Ref.get(kept),
      remember: (signed) => Ref.set(kept, Option.some(signed)),
    })),
  )

  /** Stores the note of the log of this origin in a file. */
  static readonly file = (path: string, origin: string) =>
    Layer.effect(
      LastSigned,
      Effect.gen(function* () {
        const files = yield* FileSystem.FileSystem
        const lost = (what: string) => new LastSignedLost({ what })

        const recall = Effect.gen(function* () {
          if (!(yield* files.exists(path))) return Option.none<TreeHead>()
          const checkpoint = parseSigned(yield* files.readFileString(path))
          if (checkpoint instanceof Malformed) return yield* lost(`is no checkpoint: ${checkpoint.message}`)
          if (checkpoint.origin !== origin) return yield* lost(`is of the log ${checkpoint.origin}, not of ${origin}`)
          return Option.some<TreeHead>(checkpoint)
        }).pipe(Effect.catchTag("PlatformError", (error) => lost(`cannot be read (${DurableFile.reasonOf(error)})`)))

        const remember: LastSigned["Service"]["remember"] = Effect.fn("LastSigned.remember")(
          function* ({ note, size }) {
            const kept = yield* recall
            if (Option.isSome(kept) && kept.value.size > size) {
              return yield* lost(
                `holds a checkpoint of ${kept.value.size} entries, and ${size} were to be signed: each server needs a file of its own`,
              )
            }
            return yield* DurableFile.write(path, note)
          },
          Effect.provideService(FileSystem.FileSystem, files),
          Effect.catchTag("PlatformError", (error) => lost(`cannot be written (${DurableFile.reasonOf(error)})`)),
        )

        return LastSigned.of({ isDurable: true, recall, remember })
      }),
    )
}
