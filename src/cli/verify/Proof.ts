/** `verify-proof`: checks one stone by one proof and one key, offline. */
import { Effect, Option } from "effect"
import { onlyLogOf } from "../../../schema/log/Policy.ts"
import { verdictOf } from "../../buyer/core/Verdict.ts"
import { checkProof } from "../../buyer/receipt/ProofChecks.ts"
import { stoneIn } from "../../buyer/receipt/ReceiptFile.ts"
import { CommandFailure } from "../CommandFailure.ts"
import { command, text, word } from "../Define.ts"
import { plain } from "../Output.ts"
import { textIn, trustFlags, trustIn } from "./Policy.ts"
import { report } from "./Report.ts"

/** The stone in a file of JSON. */
export const stoneAt = Effect.fnUntraced(function* (path: string) {
  const given = yield* textIn(path)
  const stone = yield* Effect.promise(() => verdictOf(() => Promise.resolve(given).then(stoneIn)))
  return "ok" in stone ? yield* new CommandFailure({ message: plain(`${path}: ${stone.reason}`) }) : stone
})

export const verifyProof = command("verify-proof", {
  description:
    "Check offline that the log has a stone. It needs nothing but the proof, the stone and the key. It says what is proved, and what is not. Exit code 1 when it is not proved",
  examples: {
    "spirit-altar verify-proof stone.tlog-proof --stone stone.json --vkey altar.example/log+21ce6caa+AW…":
      "Check a proof",
  },
  flags: {
    file: word("file", "The .tlog-proof of the stone"),
    stone: text("stone", "The stone as JSON: its record, or what /api/witness/{id} answered", "file"),
    ...trustFlags,
  },
  run: Effect.fn("verifyProof")(function* (flags) {
    const proof = yield* textIn(flags.file)
    const stone = yield* stoneAt(flags.stone)
    const trust = yield* trustIn(flags, onlyLogOf)
    if (Option.isNone(trust))
      return yield* new CommandFailure({
        message: "Name the log's key with --vkey, or give a --policy that names one log.",
      })
    yield* report(flags.file, yield* Effect.promise(() => checkProof(proof, stone, trust.value)))
  }),
})
