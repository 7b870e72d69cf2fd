/** `verify-proof`: checks one stone, or one entry of any log, by one proof and one key, offline. */
import { Effect, FileSystem, Option } from "effect"
import type { Command } from "effect/cli"
import { fromBase64, Malformed } from "../../../schema/log/Bytes.ts"
import { logNamed } from "../../../schema/log/Policy.ts"
import { parseProofFile } from "../../../schema/log/ProofFile.ts"
import { verdictOf } from "../../buyer/log/Verdict.ts"
import { checkProof, type Logged } from "../../buyer/receipt/ProofChecks.ts"
import { stoneIn } from "../../buyer/receipt/ReceiptFile.ts"
import { CommandFailure } from "../CommandFailure.ts"
import { command, optionalText, word } from "../Define.ts"
import { common } from "../Flags.ts"
import { trustIn } from "../log/Policy.ts"
import { plain } from "../Output.ts"
import { report } from "./Report.ts"
import { policy } from "./Verify.ts"

const flags = {
  file: word("file", "The .tlog-proof of the stone"),
  stone: optionalText("stone", "The stone as JSON: its record, or what /api/witness/{id} answered", "file"),
  entry: optionalText("entry", "Instead of a stone, the entry of any other log: the file's bytes as they are", "file"),
  leaf: optionalText("leaf", "Instead of the entry its leaf hash, 64 hexadecimal digits or Base64", "hash"),
  vkey: optionalText(
    "vkey",
    "The log's verifier key, name+hash+base64, as you learned it from somewhere else (else that of the policy)",
  ),
  origin: optionalText("origin", "First line of its checkpoints, when that is not the name of the key"),
  policy,
  json: common.json,
}

type Flags = Command.Command.Config.Infer<typeof flags>

const bytesIn = (path: string) =>
  Effect.flatMap(FileSystem.FileSystem, (fs) =>
    Effect.mapBoth(fs.readFile(path), {
      onSuccess: (bytes) => Uint8Array.from(bytes),
      onFailure: () => new CommandFailure({ message: `${path} cannot be read.` }),
    }),
  )

const textIn = (path: string) => Effect.map(bytesIn(path), (bytes) => new TextDecoder().decode(bytes))

const given: {
  readonly [Kind in "stone" | "entry" | "leaf"]: (
    value: string,
  ) => Effect.Effect<Logged, CommandFailure, FileSystem.FileSystem>
} = {
  stone: Effect.fnUntraced(function* (path) {
    const text = yield* textIn(path)
    const found = yield* Effect.promise(() => verdictOf(() => Promise.resolve(text).then(stoneIn)))
    return "ok" in found ? yield* new CommandFailure({ message: plain(`${path}: ${found.reason}`) }) : found
  }),
  entry: (path) => Effect.map(bytesIn(path), (entry) => ({ entry })),
  leaf: (hash) => {
    const leaf = /^[0-9a-f]{64}$/iu.test(hash) ? Uint8Array.from(Buffer.from(hash, "hex")) : fromBase64(hash)
    return leaf?.length === 32
      ? Effect.succeed({ leaf })
      : new CommandFailure({ message: `--leaf ${hash} is no hash: 64 hexadecimal digits or Base64 of 32 bytes.` })
  },
}

const trustOf = Effect.fnUntraced(function* (proof: string, flags: Flags) {
  const said = parseProofFile(proof)
  const name = said instanceof Malformed ? "" : (said.checkpoint.split("\n")[0] ?? "")
  const trust = yield* trustIn(flags, (rules) => logNamed(rules, name))
  if (Option.isSome(trust)) return trust.value
  return yield* new CommandFailure({
    message: "Name the log's key with --vkey, or give a --policy that names one log.",
  })
})

const checking = Effect.fn("verifyProof")(function* (flags: Flags) {
  const proof = yield* textIn(flags.file)
  const [one, ...more] = (["stone", "entry", "leaf"] as const).flatMap((kind) =>
    Option.toArray(Option.map(flags[kind], given[kind])),
  )
  if (one === undefined || more.length > 0) {
    return yield* new CommandFailure({ message: "Name what is to be proved: one of --stone, --entry and --leaf." })
  }
  const logged = yield* one
  const trust = yield* trustOf(proof, flags)
  yield* report(flags.file, yield* Effect.promise(() => checkProof(proof, logged, trust)), flags.json)
})

export const verifyProof = command("verify-proof", {
  description:
    "Check offline that a log has a stone, or that any C2SP log has an entry: nothing but the proof, the stone or entry and the key is needed. It says what is proved, and what is not. Exit code 1 when it is not proved",
  examples: [
    [
      "spirit-altar verify-proof stone-417.tlog-proof --stone stone.json --vkey altar.example/log+21ce6caa+AW…",
      "Check a proof",
    ],
    [
      "spirit-altar verify-proof x.tlog-proof --entry x.bin --policy trusted",
      "Check an entry of any log by a policy with one log",
    ],
  ],
  flags,
  run: checking,
})
