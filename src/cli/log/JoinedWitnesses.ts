/** The log witnesses of `log join`: as they are given, whether they sign, and the policy of those that do. */
import { type Array as Arr, DateTime, Effect, FileSystem, Option, Path, Schedule } from "effect"
import type { HttpClient } from "effect/http"
import { concat, Malformed } from "../../../schema/log/Bytes.ts"
import { consistencyRanges } from "../../../schema/log/Merkle.ts"
import { parseNote } from "../../../schema/log/Note.ts"
import { parsePolicy, type PolicyWitness } from "../../../schema/log/Policy.ts"
import * as LogWitness from "../../log/LogWitness.ts"
import { proofOf } from "../../log/Tree.ts"
import { cosignatureVerifier, logVerifier, type Verifier } from "../../log/Verifier.ts"
import * as DurableFile from "../../platform/DurableFile.ts"
import { CommandFailure } from "../CommandFailure.ts"
import { plain } from "../Output.ts"
import { at, tilesOf } from "./LogSource.ts"
import { newest, type ServedLog } from "./ServedLog.ts"

const failure = (message: string) => new CommandFailure({ message: plain(message) })

/** The policy line of `vkey,url`, under the name of the key. */
const lineOf = (given: string) => {
  const [, vkey = "", name = "", url = ""] = /^(([^+]+)\+[^+,]+\+[^,]+),(\S+)$/u.exec(given) ?? []
  return vkey === ""
    ? Effect.fail(failure(`--witness ${given} is not vkey,url: name+hash+base64, a comma, and the witness's URL.`))
    : Effect.succeed(`witness ${name.replaceAll(/[^\w.-]/gu, "-")} ${vkey} ${url}`)
}

const keyIn = (line: string) => line.trim().split(/\s+/u)[2]

/** The witnesses of `--witness vkey,url`, of a file of policy lines as `witness-serve` prints them, and of `before`. */
export const givenWitnesses = Effect.fn("givenWitnesses")(function* (
  named: ReadonlyArray<string>,
  file: Option.Option<string>,
  before: string,
) {
  const files = yield* FileSystem.FileSystem
  const listed = Option.isNone(file)
    ? ""
    : yield* Effect.mapError(files.readFileString(file.value), () => failure(`${file.value} cannot be read.`))
  const given = [...listed.split("\n"), ...(yield* Effect.forEach(named, lineOf))]
  const other = given.find((line) => !/^\s*(?:$|#|witness\s)/u.test(line))
  if (other !== undefined) return yield* failure(`A line of witnesses is witness NAME VKEY URL, and not: ${other}`)
  const kept = before
    .split("\n")
    .filter((line) => line.startsWith("witness ") && !given.some((one) => keyIn(one) === keyIn(line)))
  const policy = parsePolicy([...given, ...kept, "quorum none"].join("\n"))
  return policy instanceof Malformed ? yield* failure(`Of the witnesses: ${policy.message}`) : policy.witnesses
})

const valid = (verifier: Verifier | Malformed) =>
  verifier instanceof Malformed ? Effect.fail(failure(verifier.message)) : Effect.succeed(verifier)

/** Milliseconds for one request to a witness. */
const patience = 5_000

/** Reads the witness's signature under the served checkpoint, or asks the witness for it. */
const signedBy = Effect.fnUntraced(function* (log: ServedLog, { name, url, vkey }: PolicyWitness) {
  const verifier = yield* valid(cosignatureVerifier(vkey))
  const { checkpoint, note } = yield* newest(log)
  const parsed = parseNote(note)
  const { signatures, text } = parsed instanceof Malformed ? { signatures: [], text: "" } : parsed
  const own = signatures.filter(verifier.isNamed)
  if (!own.every((one) => verifier.holds(text, one))) {
    return yield* failure("the signature under its key that the log serves is wrong")
  }
  if (own.length > 0) return `its signature is under the served checkpoint of ${checkpoint.size} entries`
  if (url === undefined) return yield* failure("its signature is not under the served checkpoint; it has no URL")
  const context = yield* Effect.context<HttpClient.HttpClient>()
  const witness = yield* LogWitness.make(name, url, verifier, yield* valid(logVerifier(log.vkey)), patience)
  const prove: LogWitness.CosignRequest["prove"] = (old) => {
    const ranges = old === 0 ? [] : consistencyRanges(old, checkpoint.size)
    return tilesOf(at(log.url), ranges, checkpoint.size).pipe(
      Effect.map((read) => (proofOf(ranges, read) ?? []).map((hash) => concat(hash))),
      Effect.mapError(({ message }) => new LogWitness.NotWitnessed({ message, isDoubt: false })),
      Effect.provide(context),
    )
  }
  yield* Effect.mapError(witness.cosign({ note, checkpoint, prove }), ({ message }) => failure(message))
  return `it signed the checkpoint of ${checkpoint.size} entries when asked`
})

/** Asks all at once. Each is asked a second time, since the log may have grown between reading and asking. */
export const askWitnesses = (log: ServedLog, witnesses: ReadonlyArray<PolicyWitness>) =>
  Effect.forEach(
    witnesses,
    (witness) =>
      signedBy(log, witness).pipe(
        Effect.retry(Schedule.spaced("1 second").pipe(Schedule.upTo({ times: 1 }))),
        Effect.match({
          onFailure: ({ message }) => ({ witness, check: log.prefix + witness.name, hasSigned: false, message }),
          onSuccess: (message) => ({ witness, check: log.prefix + witness.name, hasSigned: true, message }),
        }),
      ),
    { concurrency: "unbounded" },
  )

const titleOf = ({ vkey }: ServedLog) =>
  `# The policy of ${vkey.split("+")[0]}, written by spirit-altar log join, which may replace it.`

/** The file for a policy, with its text. Fails if another program or person wrote it, or for another log. */
export const ownFile = Effect.fn("ownFile")(function* (log: ServedLog, named: string) {
  const files = yield* FileSystem.FileSystem
  const file = (yield* Path.Path).resolve(named)
  const isThere = yield* Effect.orElseSucceed(files.exists(file), () => true)
  const text = isThere ? yield* Effect.orElseSucceed(files.readFileString(file), () => "") : ""
  if (isThere && !text.startsWith(`${titleOf(log)}\n`)) {
    return yield* failure(`${file} is there and not of this command for this log: name another file with --policy.`)
  }
  return { file, text }
})

/** The quorum of a policy of this command. */
export const quorumIn = (text: string) =>
  Option.map(Option.fromNullishOr(/^group enough (\d+) /mu.exec(text)?.[1]), Number)

/** Writes the policy that `LOG_WITNESSES` and readers take: any `quorum` of these witnesses, for each of the logs. */
export const writePolicy = Effect.fn("writePolicy")(function* (
  logs: Arr.NonEmptyReadonlyArray<ServedLog>,
  file: string,
  witnesses: ReadonlyArray<PolicyWitness>,
  quorum: number,
  silent: ReadonlyArray<PolicyWitness>,
) {
  const today = DateTime.formatIsoDateUtc(yield* DateTime.now)
  const text = [
    titleOf(logs[0]),
    ...logs.map(({ url, vkey }) => `log ${vkey} ${url}`),
    ...witnesses.flatMap((witness) => [
      ...(silent.includes(witness) ? [`# ${witness.name} did not sign on ${today}.`] : []),
      ["witness", witness.name, witness.vkey, witness.url].filter(Boolean).join(" "),
    ]),
    `group enough ${quorum} ${witnesses.map(({ name }) => name).join(" ")}`,
    "quorum enough\n",
  ].join("\n")
  const policy = parsePolicy(text)
  if (policy instanceof Malformed) return yield* failure(`No policy can be written. ${policy.message}`)
  yield* Effect.mapError(DurableFile.write(file, text, 0o644), ({ message }) =>
    failure(`${file} cannot be written: ${message}`),
  )
})
