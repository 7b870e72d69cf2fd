/** Atomic, durable file writes that survive a power failure. */
import { randomUUID } from "node:crypto"
import { dirname } from "node:path"
import { Effect, FileSystem } from "effect"

/** Replaces a file, which its owner alone reads where no other mode is named. Durable when it returns. */
export const write = Effect.fn("DurableFile.write")(function* (
  file: string,
  content: string | Uint8Array,
  mode = 0o600,
) {
  const files = yield* FileSystem.FileSystem
  // A unique name: concurrent writers replace the file as a whole instead of mixing their content.
  const fresh = `${file}.${randomUUID()}.new`
  yield* Effect.gen(function* () {
    const opened = yield* files.open(fresh, { flag: "wx", mode })
    yield* opened.writeAll(typeof content === "string" ? new TextEncoder().encode(content) : content)
    yield* opened.sync
    yield* files.rename(fresh, file)
  }).pipe(Effect.onError(() => Effect.ignore(files.remove(fresh, { force: true }))))
  // The rename is durable once the folder is synced.
  const folder = yield* files.open(dirname(file), { flag: "r" })
  yield* folder.sync
}, Effect.scoped)
