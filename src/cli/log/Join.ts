/** `log join`: a log's request to a witness network, a check of its served files, and the policy of its witnesses. */
import { type Array as Arr, Config, Console, Effect, Option } from "effect"
import { type Command, Flag } from "effect/cli"
import type { PolicyWitness } from "../../../schema/log/Policy.ts"
import { log as variables, operator, sufficient } from "../../server/config/Table.ts"
import { CommandFailure } from "../CommandFailure.ts"
import { command, on, optionalText, text } from "../Define.ts"
import { type CheckResult, failed, ok } from "../operator/CheckResult.ts"
import { plain } from "../Output.ts"
import * as Download from "../verify/Download.ts"
import { keysOf, logsOf, requestOf } from "./JoinedLogs.ts"
import { askWitnesses, givenWitnesses, ownFile, quorumIn, writePolicy } from "./JoinedWitnesses.ts"
import { locate } from "./LogSource.ts"
import { checkServed, type ServedLog } from "./ServedLog.ts"

const from = (variable: { readonly name: string }) => Flag.withFallbackConfig(Config.String(variable.name))

const flags = {
  url: text("url", `Public URL of the server or of its log (${sufficient.publicUrl.name})`).pipe(
    from(sufficient.publicUrl),
  ),
  vkey: optionalText("vkey", `Verifier key of the log (else that of ${variables.key.name})`),
  actsVkey: optionalText("acts-vkey", `Verifier key of the log over all acts (else by ${variables.key.name})`),
  contact: text("contact", `Address or URL where its operator is reached (${operator.contact.name})`).pipe(
    from(operator.contact),
  ),
  list: text("list", "List of the network that the log asks for: testing or staging").pipe(Flag.withDefault("testing")),
  seconds: Flag.Int("seconds").pipe(
    Flag.withDescription(`Minimum seconds between two checkpoints (${variables.publishSeconds.name}, else 10)`),
    Flag.withFallbackConfig(Config.Int(variables.publishSeconds.name)),
    Flag.withDefault(10),
  ),
  witness: text("witness", "A witness as its verifier key, a comma and its URL; may be repeated", "vkey,url").pipe(
    Flag.atLeast(0),
  ),
  witnesses: optionalText("witnesses", "File of witnesses, one a line, as witness-serve prints them", "file"),
  quorum: Flag.Int("quorum").pipe(
    Flag.withDescription("How many of them must sign (as in the written policy, else all)"),
    Flag.optional,
  ),
  replace: on("replace", "Drop the witnesses of the written policy that are not named or do not sign now"),
  policy: optionalText("policy", "Policy file that is written once so many have signed", "file"),
}

type Flags = Command.Command.Config.Infer<typeof flags>

const show = ({ check, message, state }: CheckResult) =>
  Console.log(plain(`${check.padEnd(16)} ${state.padEnd(8)} ${message}`))

const isPublic = (url: string) => url.startsWith("https://")

/** Fails before the first request where the flags contradict each other. */
const plannedPolicy = Effect.fnUntraced(function* (
  log: ServedLog,
  { policy, quorum, replace, witness, witnesses: file }: Flags,
) {
  const isAsked = witness.length > 0 || Option.isSome(file) || Option.isSome(quorum)
  if (Option.isNone(policy) && !isAsked) return Option.none()
  const own = Option.isNone(policy) ? { file: "", text: "" } : yield* ownFile(log, policy.value)
  const before = replace ? "" : own.text
  const witnesses = yield* givenWitnesses(witness, file, before)
  const most = witnesses.length
  const least = Option.getOrElse(
    Option.orElse(quorum, () => quorumIn(before)),
    () => most,
  )
  if (most === 0 || Option.isNone(policy) || least < 1 || least > most) {
    return yield* new CommandFailure({
      message: `A policy needs --policy FILE, at least one --witness or --witnesses, and a --quorum from 1 to their number, which is ${most}.`,
    })
  }
  return Option.some({ witnesses, quorum: least, file: own.file, before })
})

type Planned = Option.Option.Value<Effect.Success<ReturnType<typeof plannedPolicy>>>

/** Asks the witnesses for each log, and writes the policy. A witness of the published policy stays in it. */
const writeJoined = Effect.fnUntraced(function* (
  logs: Arr.NonEmptyReadonlyArray<ServedLog>,
  { before, file, quorum, witnesses }: Planned,
) {
  const asked = yield* Effect.forEach(logs, (log) => askWitnesses(log, witnesses), { concurrency: "unbounded" })
  const answers = asked.flat()
  const silent = witnesses.filter((one) => answers.some(({ hasSigned, witness }) => witness === one && !hasSigned))
  const isKept = ({ vkey }: PolicyWitness) => before.includes(` ${vkey}`)
  const signed = witnesses.length - silent.length
  for (const { check, hasSigned, message, witness } of answers) {
    const where = isKept(witness) ? "kept in the policy" : "left out of the policy"
    const missing: CheckResult =
      signed >= quorum ? { check, state: "warning", message: `${where}: ${message}` } : failed(check, message)
    yield* show(hasSigned ? ok(check, message) : missing)
  }
  if (signed < quorum) {
    return yield* new CommandFailure({
      message: `${signed} of ${witnesses.length} witnesses signed${logs.length > 1 ? " both logs" : ""}, and ${quorum} must. No policy was written.`,
    })
  }
  const members = witnesses.filter((one) => !silent.includes(one) || isKept(one))
  yield* writePolicy(logs, file, members, quorum, silent)
  yield* Console.log(
    `${file} asks for ${quorum} of ${members.length} witnesses. Set LOG_WITNESSES to it on each server, and publish it for readers.`,
  )
})

export const joining = Effect.fn("joining")(function* (given: Flags) {
  const { contact, list, seconds, url } = given
  if (!/^[^\p{Cc}]{3,200}$/u.test(contact) || !["staging", "testing"].includes(list) || seconds < 1 || seconds > 3600) {
    return yield* new CommandFailure({
      message: "--contact is one line, --list is testing or staging, and --seconds is from 1 to 3600.",
    })
  }
  const keys = yield* keysOf(given)
  const base = url.replace(/\/+$/u, "")
  const at = yield* Effect.orElseSucceed(locate(base), () => `${base}/log`)
  const log: ServedLog = { url: at, vkey: keys.stones, seconds, prefix: "" }
  const planned = yield* plannedPolicy(log, given)
  const { lines: notes, logs } = yield* logsOf(
    log,
    keys.acts,
    Option.match(planned, { onNone: () => "", onSome: (one) => one.before }),
  )
  yield* Console.log(requestOf(logs, list, contact))
  const checks = yield* Effect.forEach(logs, checkServed, { concurrency: 2 })
  const lines: Array<CheckResult> = [...checks.flat(), ...notes]
  if (!isPublic(log.url)) {
    lines.push({ check: "address", state: "warning", message: `${log.url} is not https: name the public URL` })
  }
  yield* Effect.forEach(lines, show)
  const wrong = lines.filter(({ state }) => state === "failed").length
  if (wrong > 0) return yield* new CommandFailure({ message: "Send the request when the failed checks pass." })
  if (Option.isSome(planned)) return yield* writeJoined(logs, planned.value)
  yield* Console.log(
    "Send the request above. When witnesses sign: spirit-altar log join … --witness VKEY,URL --policy FILE",
  )
}, Effect.provide(Download.plainClient))

export const join = command("join", {
  description:
    "Print the request of a log, and of its log over all acts, to a public witness network, and check that its URL serves what witnesses and readers need: checkpoint, signature, tiles, entries, rate. With witnesses: see that each signs both logs, and write the policy file for LOG_WITNESSES and for readers. An existing file is replaced only if this command wrote it for this log, and keeps its witnesses and quorum. Exit code 1 when a check failed or too few witnesses signed",
  summary: "Ask a witness network to sign a log, and write its policy",
  examples: [
    [
      "spirit-altar log join --url https://altar.example --contact ops@altar.example",
      "The request, and whether the log is ready for it",
    ],
    [
      "spirit-altar log join --url https://altar.example --contact ops@altar.example --witnesses witnesses.txt --quorum 2 --policy policy.txt",
      "The policy, once two of the witnesses sign",
    ],
  ],
  flags,
  run: joining,
})
