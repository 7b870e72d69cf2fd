/** `witness-serve`: a witness for other logs, so that two operators can watch each other. */
import { Console, Effect, FileSystem, Layer, Path, Redacted } from "effect"
import { type Command, Flag } from "effect/cli"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { HttpRouter, HttpServer } from "effect/http"
import { Malformed } from "../../../schema/log/Bytes.ts"
import { keyTypes, parseVerifierKey } from "../../../schema/log/Note.ts"
import { cosignerFrom, generate } from "../../log/Signer.ts"
import { logVerifier } from "../../log/Verifier.ts"
import * as WitnessHttp from "../../log/witness/Http.ts"
import { Memory } from "../../log/witness/Memory.ts"
import { Witness } from "../../log/witness/Witness.ts"
import { log as lines } from "../../server/config/Telemetry.ts"
import * as DurableFile from "../../platform/DurableFile.ts"
import * as Listener from "../../http/Listener.ts"
import * as Logs from "../../telemetry/Logs.ts"
import { command, on, text } from "../Define.ts"
import { exitsCleanly } from "../ExitCode.ts"
import { CommandFailure } from "../CommandFailure.ts"

const flags = {
  name: text("name", "Permanent name of its key: its public host and path, without scheme"),
  log: text("log", "Verifier key of a log it signs for; may be repeated", "vkey").pipe(Flag.atLeast(1)),
  data: text("data", "Folder for its key and its last signatures; never restore it from a backup", "folder"),
  postQuantum: on("post-quantum", "Make its key of type ML-DSA-44, at its first start; logs must know this type"),
  host: text("host", "Address to listen on").pipe(Flag.withDefault("127.0.0.1")),
  port: Flag.Int("port").pipe(Flag.withDescription("Port to listen on"), Flag.withDefault(3200)),
}

/** The key of the folder, created if missing; the caller holds the folder's lock. */
const keyIn = Effect.fnUntraced(
  function* (folder: string, name: string, isPostQuantum: boolean) {
    yield* Memory
    const files = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const file = path.join(folder, "key")
    if (!(yield* files.exists(file))) {
      const made = yield* Effect.mapError(
        Effect.fromResult(generate(name, isPostQuantum ? keyTypes.mlDsa : keyTypes.ed25519)),
        ({ message }) => new CommandFailure({ message: `No key for ${name}: ${message}` }),
      )
      yield* DurableFile.write(file, `${Redacted.value(made)}\n`)
    }
    const text = yield* files.readFileString(file)
    const cosigner = yield* Effect.mapError(
      Effect.fromResult(cosignerFrom(Redacted.make(text.trim()))),
      ({ message }) => new CommandFailure({ message: `${file} is wrong: ${message}` }),
    )
    const key = parseVerifierKey(cosigner.vkey)
    if (isPostQuantum && !(key instanceof Malformed) && key.type !== keyTypes.mlDsa) {
      return yield* new CommandFailure({
        message: `${file} is an Ed25519 key, and a witness keeps its key. Name another folder and --name for a post-quantum one.`,
      })
    }
    if (cosigner.name === name) return cosigner
    return yield* new CommandFailure({
      message: `${file} is the key of ${cosigner.name}, not of ${name}: a witness keeps its name.`,
    })
  },
  Effect.catchTag("PlatformError", ({ message }) => Effect.fail(new CommandFailure({ message }))),
)

const verifiersOf = Effect.fnUntraced(function* (vkeys: ReadonlyArray<string>) {
  const names = new Set<string>()
  return yield* Effect.forEach(vkeys, (vkey) => {
    const verifier = logVerifier(vkey)
    if (verifier instanceof Malformed) return new CommandFailure({ message: `--log ${vkey}: ${verifier.message}` })
    // The last signed size is stored by name, so two keys of one name would overwrite each other's.
    if (names.has(verifier.name)) return new CommandFailure({ message: `--log ${verifier.name} is named twice.` })
    names.add(verifier.name)
    return Effect.succeed(verifier)
  })
})

export const witnessServing = Effect.fn("witnessServing")(function* ({
  data,
  host,
  log,
  name,
  port,
  postQuantum,
}: Command.Command.Config.Infer<typeof flags>) {
  const files = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const folder = path.resolve(data)
  const logs = yield* verifiersOf(log)
  yield* Effect.mapError(
    files.makeDirectory(folder, { recursive: true, mode: 0o700 }),
    ({ message }) => new CommandFailure({ message }),
  )
  const served = Layer.unwrap(
    Effect.map(keyIn(folder, name, postQuantum), (cosigner) => {
      const told = Layer.effectDiscard(
        Effect.gen(function* () {
          const url = HttpServer.formatAddress((yield* HttpServer.HttpServer).address)
          // The line of a policy file.
          yield* Console.log(`witness ${name.replaceAll(/[^\w.-]/gu, "-")} ${cosigner.vkey} ${url}`)
          yield* Console.error(`Signing for ${logs.map((one) => one.name).join(", ")}.`)
        }),
      )
      const listening = Listener.drained.pipe(
        Layer.provide(HttpRouter.serve(WitnessHttp.layer, { disableLogger: true, disableListenLog: true })),
      )
      return Layer.merge(told, listening).pipe(Layer.provide(Witness.layer({ cosigner, logs })))
    }),
  )
  yield* exitsCleanly
  return yield* Layer.launch(
    served.pipe(
      Layer.provide(Memory.folder(folder)),
      Layer.provide(NodeFileSystem.layer),
      Layer.provide(Listener.layer({ host, port })),
      Layer.provide(Layer.unwrap(Effect.map(lines, Logs.layer))),
    ),
  )
})

export const witnessServe = command("witness-serve", {
  description:
    "Cosign the checkpoints of transparency logs (C2SP tlog-witness): each that continues the last signed one, and no other. The key is made at the first start. A signature is on disk before it is answered",
  examples: [
    [
      "spirit-altar witness-serve --name witness.example/w1 --log altar.example/log+21ce6caa+AW… --data ./witness",
      "Watch one log",
    ],
  ],
  flags,
  run: witnessServing,
})
