/** The log of a sandbox has the key and the name it was first started with, whatever port it listens on later. */
import { Effect, FileSystem, Option, Path, Redacted } from "effect"
import type { LogConfig } from "../log/Log.ts"
import { fromText, generate, originOf } from "../log/Signer.ts"
import { DataFolder } from "./DataFolder.ts"

/** The log of this data folder; its key is made when there is none. */
export const kept = Effect.fn("LogKey.kept")(function* (publicUrl: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const { folder } = yield* DataFolder
  const file = path.join(folder, "log-key")
  if (!(yield* fs.exists(file))) {
    const made = yield* Effect.fromResult(generate(originOf(publicUrl)))
    yield* fs.writeFileString(`${file}.half`, `${Redacted.value(made)}\n`, { mode: 0o600 })
    yield* fs.rename(`${file}.half`, file)
  }
  const text = yield* fs.readFileString(file)
  const signer = yield* Effect.fromResult(fromText(Redacted.make(text.trim())))
  return {
    signer,
    origin: signer.name,
    checkpointFile: Option.some(path.join(folder, "log-checkpoint")),
  } satisfies LogConfig
})
