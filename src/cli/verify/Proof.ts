/** `verify-proof`: checks one stone by one proof and one key, offline. */
import { Effect, FileSystem, Option } from "effect"
import type { Command } from "effect/cli"
import { Malformed } from "../../../schema/log/Bytes.ts"
import { logNamed } from "../../../schema/log/Policy.ts"
import { parseProofFile } from "../../../schema/log/ProofFile.ts"
import { verdictOf } from "../../buyer/log/Verdict.ts"
import { checkProof } from "../../buyer/receipt/ProofChecks.ts"
import { stoneIn } from "../../buyer/receipt/ReceiptFile.ts"
import { CommandFailure } from "../CommandFailure.ts"
import { command, optionalText, text, word } from "../Define.ts"
import { common } from "../Flags.ts"
import { trustIn } from "../log/Policy.ts"
import { plain } from "../Output.ts"
import { report } from "./Report.ts"
import { policy } from "./Verify.ts"

const flags = {
  file: word("file", "The .tlog-proof of the stone"),
  stone: text("stone", "The stone as JSON: its record, or what /api/witness/{id} answered", "file"),
  vkey: optionalText(
    "vkey",
    "The log's verifier key, name+hash+base64, as you learned it from somewhere else (else that of the policy)",
  ),
  origin: optionalText("origin", "First line of its checkpoints, when that is not the name of the key"),
  policy,
  json: common.json,
}

type Flags = Command.Command.Config.Infer<typeof flags>

const textIn = (path: string) =>
  Effect.flatMap(FileSystem.FileSystem, (fs) =>
    Effect.mapError(fs.readFileString(path), () => new CommandFailure({ message: `${path} cannot be read.` })),
  )

const stoneAt = Effect.fnUntraced(function* (path: string) {
  const given = yield* textIn(path)
  const found = yield* Effect.promise(() => verdictOf(() => Promise.resolve(given).then(stoneIn)))
  return "ok" in found ? yield* new CommandFailure({ message: plain(`${path}: ${found.reason}`) }) : found
})

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
  const stone = yield* stoneAt(flags.stone)
  const trust = yield* trustOf(proof, flags)
  yield* report(flags.file, yield* Effect.promise(() => checkProof(proof, stone, trust)), flags.json)
})

export const verifyProof = command("verify-proof", {
  description:
    "Check offline that the log has a stone: nothing but the proof, the stone and the key is needed. It says what is proved, and what is not. Exit code 1 when it is not proved",
  examples: [
    [
      "spirit-altar verify-proof stone.tlog-proof --stone stone.json --vkey altar.example/log+21ce6caa+AW…",
      "Check a proof",
    ],
  ],
  flags,
  run: checking,
})
