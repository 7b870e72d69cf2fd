/** `verify-proof`: checks one stone by one proof and one key, offline. */
import { Console, Effect, FileSystem, Option, Schema } from "effect"
import type { Command } from "effect/cli"
import { policy } from "./Verify.ts"
import { fromBase64, Malformed } from "../../../schema/log/Bytes.ts"
import { logNamed } from "../../../schema/log/Policy.ts"
import { parseProofFile } from "../../../schema/log/ProofFile.ts"
import { verifyEntry } from "../../buyer/log/EntryProof.ts"
import type { NotProven } from "../../buyer/log/Verdict.ts"
import { verifyProof as verify } from "../../buyer/log/StoneProof.ts"
import { cosignedBy, policyIn } from "../log/Policy.ts"
import { command, optionalText, word } from "../Define.ts"
import { provided } from "../Flags.ts"
import { plain } from "../Output.ts"
import { CheckFailed, CommandFailure } from "../CommandFailure.ts"

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

const trustOf = Effect.fnUntraced(function* (proof: string, { origin, policy: file, vkey: named }: Flags) {
  const policy = yield* policyIn(file)
  const said = parseProofFile(proof)
  const name = said instanceof Malformed ? "" : (said.checkpoint.split("\n")[0] ?? "")
  const vkey = Option.orElse(named, () => Option.flatMapNullishOr(policy, (rules) => logNamed(rules, name)))
  if (Option.isNone(vkey)) {
    return yield* new CommandFailure({
      message: "Name the log's key with --vkey, or give a --policy that names one log.",
    })
  }
  return { vkey: vkey.value, ...provided({ origin, witnesses: policy }) }
})

const leafIn = (given: string) => {
  const hash = /^[0-9a-f]{64}$/iu.test(given) ? Uint8Array.from(Buffer.from(given, "hex")) : fromBase64(given)
  return hash?.length === 32
    ? Effect.succeed({ leaf: hash })
    : Effect.fail(
        new CommandFailure({ message: `--leaf ${given} is no hash: 64 hexadecimal digits or Base64 of 32 bytes.` }),
      )
}

const entryIn = (path: string) =>
  Effect.flatMap(FileSystem.FileSystem, (fs) =>
    Effect.mapBoth(fs.readFile(path), {
      onSuccess: (bytes) => ({ entry: Uint8Array.from(bytes) }),
      onFailure: () => new CommandFailure({ message: `${path} cannot be read.` }),
    }),
  )

const held = <A extends { readonly ok: true }>(verdict: A | NotProven) =>
  verdict.ok
    ? Effect.succeed(verdict)
    : Effect.fail(new CheckFailed({ message: plain(`NOT PROVED (${verdict.fault}): ${verdict.reason}`) }))

/** An entry of any log, of which nothing but its bytes is known. */
const checkEntry = Effect.fnUntraced(function* (
  proof: string,
  of: { readonly given: string; readonly isLeaf: boolean },
  flags: Flags,
) {
  const { given, isLeaf } = of
  const data = yield* isLeaf ? leafIn(given) : entryIn(given)
  const trust = yield* trustOf(proof, flags)
  const verdict = yield* Effect.flatMap(
    Effect.promise(() => verifyEntry(proof, data, trust)),
    held,
  )
  const { index, origin, root, size } = verdict
  const what = isLeaf ? "An entry with this leaf hash" : given
  yield* Console.log(
    plain(`${what} is entry ${index + 1} (index ${index}) of ${size} in the log ${origin}, signed with this key.`),
  )
  for (const sentence of cosignedBy(verdict)) yield* Console.log(plain(sentence))
  yield* Console.log(`root ${root}`)
  yield* Console.log(`NOT shown: ${isLeaf ? "the entry itself, and " : ""}what it means, who wrote it, and when.`)
})

const checking = Effect.fn("verifyProof")(function* (flags: Flags) {
  const proof = yield* read(flags.file)
  const given = [
    ...Option.toArray(flags.stone).map((file) => ({ given: file, kind: "stone" })),
    ...Option.toArray(flags.entry).map((file) => ({ given: file, kind: "entry" })),
    ...Option.toArray(flags.leaf).map((hash) => ({ given: hash, kind: "leaf" })),
  ]
  const [one] = given
  if (one === undefined || given.length > 1) {
    return yield* new CommandFailure({ message: "Name what is to be proved: one of --stone, --entry and --leaf." })
  }
  if (one.kind !== "stone") {
    return yield* checkEntry(proof, { given: one.given, isLeaf: one.kind === "leaf" }, flags)
  }
  const { others, stone } = yield* stoneIn(one.given)
  const trust = yield* trustOf(proof, flags)
  const verdict = yield* Effect.flatMap(
    Effect.promise(() => verify(proof, stone, trust)),
    held,
  )
  yield* Console.log(
    plain(
      `Stone ${stone.sequence} is in the log ${verdict.origin}: its checkpoint over ${verdict.size} stones, signed with this key, covers it.`,
    ),
  )
  for (const sentence of cosignedBy(verdict)) yield* Console.log(plain(sentence))
  yield* Console.log(`root ${verdict.root}`)
  yield* Console.log(`proved: ${covered.join(", ")}`)
  if (others.length > 0) {
    yield* Console.log(plain(`NOT proved, whatever the file says: ${others.join(", ")}`))
  }
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
