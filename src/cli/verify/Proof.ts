/** `verify-proof`: checks one stone by one proof and one key, offline. */
import { Console, Effect, FileSystem, Option, Schema } from "effect"
import type { Command } from "effect/cli"
import { policy } from "./Verify.ts"
import { verifyProof as verify } from "../../buyer/log/StoneProof.ts"
import { onlyLogOf, policyIn } from "../log/Policy.ts"
import { command, optionalText, text, word } from "../Define.ts"
import { provided } from "../Flags.ts"
import { plain } from "../Output.ts"
import { CheckFailed, CommandFailure } from "../CommandFailure.ts"

const flags = {
  file: word("file", "The .tlog-proof of the stone"),
  stone: text("stone", "The stone as JSON: its record, or what /api/witness/{id} answered", "file"),
  vkey: optionalText(
    "vkey",
    "The log's verifier key, name+hash+base64, as you learned it from somewhere else (else that of the policy)",
  ),
  origin: optionalText("origin", "First line of its checkpoints, when that is not the name of the key"),
  policy,
}

type Flags = Command.Command.Config.Infer<typeof flags>

/** The members that a proof covers; `chainHash` is the hash of the other five. */
const covered = ["previousHash", "sequence", "commitment", "witnessedAt", "transaction", "chainHash"] as const

const Stone = Schema.Struct({
  sequence: Schema.Int,
  commitment: Schema.String,
  witnessedAt: Schema.String,
  transaction: Schema.String,
  previousHash: Schema.String,
  chainHash: Schema.String,
})

const Answer = Schema.Record(Schema.String, Schema.Unknown)

const Receipt = Schema.Struct({ payer: Schema.String, transaction: Schema.String })

const read = (path: string) =>
  Effect.flatMap(FileSystem.FileSystem, (fs) =>
    Effect.mapError(fs.readFileString(path), () => new CommandFailure({ message: `${path} cannot be read.` })),
  )

/** The stone of a file, as given and as checked: alone, or in an answer that holds one. */
const stoneIn = Effect.fnUntraced(function* (file: string) {
  const none = new CommandFailure({ message: `${file} is no witness stone: save what /api/witness/{id} answers.` })
  const answer = yield* Effect.mapError(
    Schema.decodeEffect(Schema.fromJsonString(Answer))(yield* read(file)),
    () => none,
  )
  // With two stones in a file, it would be unclear which one was proved.
  const found = [answer, answer["stone"], answer["record"]].filter(Schema.is(Stone))
  if (found.length > 1)
    return yield* new CommandFailure({ message: `${file} holds more than one stone: keep one of them.` })
  const [stone] = found
  if (stone === undefined) return yield* none
  const receipt = Schema.decodeUnknownOption(Receipt)(answer["receipt"])
  const payer = "payer" in stone && typeof stone.payer === "string" ? stone.payer : undefined
  if (Option.isSome(receipt)) {
    const { value } = receipt
    if (value.transaction !== stone.transaction || (payer !== undefined && value.payer !== payer)) {
      return yield* new CheckFailed({
        message: `NOT PROVED (stone): ${file} contradicts itself: its receipt names another payer or transaction than its stone.`,
      })
    }
  }
  const others = Object.keys(stone).filter((name) => !covered.some((one) => one === name))
  return { stone, others: Option.isSome(receipt) ? [...others, "receipt"] : others }
})

const trustOf = Effect.fnUntraced(function* ({ origin, policy: file, vkey: named }: Flags) {
  const policy = yield* policyIn(file)
  const vkey = Option.orElse(named, () => Option.flatMap(policy, onlyLogOf))
  if (Option.isNone(vkey)) {
    return yield* new CommandFailure({
      message: "Name the log's key with --vkey, or give a --policy that names one log.",
    })
  }
  return { vkey: vkey.value, ...provided({ origin, witnesses: policy }) }
})

const checking = Effect.fn("verifyProof")(function* (flags: Flags) {
  const proof = yield* read(flags.file)
  const { others, stone } = yield* stoneIn(flags.stone)
  const verdict = yield* Effect.flatMap(trustOf(flags), (trust) => Effect.promise(() => verify(proof, stone, trust)))
  if (!verdict.ok) return yield* new CheckFailed({ message: plain(`NOT PROVED (${verdict.fault}): ${verdict.reason}`) })
  yield* Console.log(
    plain(
      `Stone ${stone.sequence} is in the log ${verdict.origin}: its checkpoint over ${verdict.size} stones, signed with this key, covers it.`,
    ),
  )
  if (verdict.cosignatures.length > 0) {
    const names = verdict.cosignatures.map(({ name }) => name).join(", ")
    yield* Console.log(plain(`Cosigned by ${names}: the quorum of the policy.`))
  }
  yield* Console.log(`root ${verdict.root}`)
  yield* Console.log(`proved: ${covered.join(", ")}`)
  if (others.length > 0) {
    yield* Console.log(plain(`NOT proved, whatever the file says: ${others.join(", ")}`))
  }
})

export const verifyProof = command("verify-proof", {
  description:
    "Check offline that a log has a stone: nothing but the proof, the stone and the key is needed. It says which fields of the stone are proved, and which are not. Exit code 1 when it is not proved",
  examples: [
    [
      "spirit-altar verify-proof stone-417.tlog-proof --stone stone.json --vkey altar.example/log+21ce6caa+AW…",
      "Check a proof",
    ],
  ],
  flags,
  run: checking,
})
