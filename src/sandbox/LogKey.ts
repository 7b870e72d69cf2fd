/** The log key of a sandbox; key and name stay those of the first start, even if the port changes. */
import { Effect, FileSystem, Option, Path, Redacted } from "effect"
import type { LogConfig } from "../log/Log.ts"
import { fromText, generate, originOf } from "../log/Signer.ts"
import { DataFolder } from "./DataFolder.ts"

/** The log of this data folder; its key is created if missing. */
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
