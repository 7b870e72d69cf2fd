/** The keys of a sandbox: its log has the key and the name it was first started with, whatever port it listens on later. */
import { Effect, FileSystem, Option, Path, Redacted } from "effect"
import type { LogConfig } from "../log/Log.ts"
import { fromText, generate, originOf, plainFrom } from "../log/Signer.ts"
import { DataFolder } from "./DataFolder.ts"

/** The text of a key in the data folder, which is made under this name when there is none. */
const keyIn = Effect.fnUntraced(function* (fileName: string, name: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const { folder } = yield* DataFolder
  const file = path.join(folder, fileName)
  if (!(yield* fs.exists(file))) {
    const made = yield* Effect.fromResult(generate(name))
    yield* fs.writeFileString(`${file}.half`, `${Redacted.value(made)}\n`, { mode: 0o600 })
    yield* fs.rename(`${file}.half`, file)
  }
  return Redacted.make((yield* fs.readFileString(file)).trim())
})

/** The receipt key of this data folder. */
export const receipts = Effect.gen(function* () {
  return { current: yield* Effect.fromResult(plainFrom(yield* keyIn("receipt-key", "receipts-1"))), retired: [] }
})

/** The log of this data folder. */
export const logOf = Effect.fn("Keys.logOf")(function* (publicUrl: string) {
  const path = yield* Path.Path
  const { folder } = yield* DataFolder
  const signer = yield* Effect.fromResult(fromText(yield* keyIn("log-key", originOf(publicUrl))))
  return {
    signer,
    origin: signer.name,
    checkpointFile: Option.some(path.join(folder, "log-checkpoint")),
    publishSeconds: 1,
  } satisfies LogConfig
})
