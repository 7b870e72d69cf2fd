/** Atomic, durable file writes that survive a power failure. */
import { randomUUID } from "node:crypto"
import { dirname } from "node:path"
import { Effect, FileSystem } from "effect"

/** Replaces a file. Durable when it returns. */
export const write = Effect.fn("DurableFile.write")(function* (file: string, text: string) {
  const files = yield* FileSystem.FileSystem
  // A unique name: concurrent writers replace the file as a whole instead of mixing their content.
  const fresh = `${file}.${randomUUID()}.new`
  yield* Effect.gen(function* () {
    const opened = yield* files.open(fresh, { flag: "wx", mode: 0o600 })
    yield* opened.writeAll(new TextEncoder().encode(text))
    yield* opened.sync
    yield* files.rename(fresh, file)
  }).pipe(Effect.onError(() => Effect.ignore(files.remove(fresh, { force: true }))))
  // The rename is durable once the folder is synced.
  const folder = yield* files.open(dirname(file), { flag: "r" })
  yield* folder.sync
}, Effect.scoped)
