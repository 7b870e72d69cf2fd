/** A file that is there as a whole, also after the power went: what was said to be kept has been kept. */
import { randomUUID } from "node:crypto"
import { dirname } from "node:path"
import { Effect, FileSystem } from "effect"

/** Replaces a file; durable when it returns. */
export const write = Effect.fn("DurableFile.write")(function* (file: string, text: string) {
  const files = yield* FileSystem.FileSystem
  // A name of its own: two who write the same file replace each other's as a whole, and mix nothing.
  const fresh = `${file}.${randomUUID()}.new`
  yield* Effect.gen(function* () {
    const opened = yield* files.open(fresh, { flag: "wx", mode: 0o600 })
    yield* opened.writeAll(new TextEncoder().encode(text))
    yield* opened.sync
    yield* files.rename(fresh, file)
  }).pipe(Effect.onError(() => Effect.ignore(files.remove(fresh, { force: true }))))
  // The new name is durable when its folder is.
  const folder = yield* files.open(dirname(file), { flag: "r" })
  yield* folder.sync
}, Effect.scoped)
