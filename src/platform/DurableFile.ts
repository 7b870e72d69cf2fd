/** A file that is there as a whole, also after the power went: what was said to be kept has been kept. */
import { dirname } from "node:path"
import { Effect, FileSystem } from "effect"

/** Replaces a file; durable when it returns. */
export const write = Effect.fn("DurableFile.write")(function* (file: string, text: string) {
  const files = yield* FileSystem.FileSystem
  const fresh = `${file}.new`
  const opened = yield* files.open(fresh, { flag: "w", mode: 0o600 })
  yield* opened.writeAll(new TextEncoder().encode(text))
  yield* opened.sync
  yield* files.rename(fresh, file)
  // The new name is durable when its folder is.
  const folder = yield* files.open(dirname(file), { flag: "r" })
  yield* folder.sync
}, Effect.scoped)
