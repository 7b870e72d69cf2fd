/** `log join`: a log's request to a witness network, a check of its served files, and the policy of its witnesses. */
import { Config, Console, Effect, Option } from "effect"
import { type Command, Flag } from "effect/cli"
import { Malformed } from "../../../schema/log/Bytes.ts"
import { fromText } from "../../log/Signer.ts"
import { logVerifier } from "../../log/Verifier.ts"
import { log as variables, operator, sufficient } from "../../server/config/Table.ts"
import { CommandFailure } from "../CommandFailure.ts"
import { command, optionalText, text } from "../Define.ts"
import { type CheckResult, failed, ok } from "../operator/CheckResult.ts"
import { plain } from "../Output.ts"
import * as Download from "../verify/Download.ts"
import { askWitnesses, givenWitnesses, ownFile, writePolicy } from "./JoinedWitnesses.ts"
import { locate } from "./LogSource.ts"
import { checkServed, type ServedLog } from "./ServedLog.ts"

const from = (variable: { readonly name: string }) => Flag.withFallbackConfig(Config.String(variable.name))

const flags = {
  url: text("url", `Public URL of the server or of its log (${sufficient.publicUrl.name})`).pipe(
    from(sufficient.publicUrl),
  ),
  vkey: optionalText("vkey", `Verifier key of the log (else that of ${variables.key.name})`),
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
  quorum: Flag.Int("quorum").pipe(Flag.withDescription("How many of them must sign (all)"), Flag.optional),
  policy: optionalText("policy", "Policy file that is written once so many have signed", "file"),
}

type Flags = Command.Command.Config.Infer<typeof flags>

const keyOf = Effect.fnUntraced(function* (named: Option.Option<string>) {
  if (Option.isSome(named)) {
    const verifier = logVerifier(named.value)
    return verifier instanceof Malformed
      ? yield* new CommandFailure({ message: `--vkey: ${verifier.message}` })
      : named.value
  }
  const secret = yield* variables.key
  if (Option.isNone(secret)) {
    return yield* new CommandFailure({ message: "Name the log's verifier key with --vkey, or set LOG_KEY." })
  }
  return (yield* Effect.fromResult(fromText(secret.value))).vkey
})

/** The mail to a witness network (witness-network.org), with the log's lines for a list (log-list format v0). */
const requestOf = ({ seconds, url, vkey }: ServedLog, list: string, contact: string) => {
  const [origin = ""] = vkey.split("+")
  // Each checkpoint may be asked for twice.
  const qpd = 2 * Math.floor(86_400 / seconds)
  return `To: participate@lists.witness-network.org
Subject: Log ${origin} for the ${list} list

Origin:     ${origin}
Key:        ${vkey}
Rate:       at most one checkpoint every ${seconds} s and one retry of each, ${qpd} requests a day
List:       ${list}
Contact:    ${contact}
Checkpoint: ${url}/checkpoint
Tiles:      ${url}/tile/<L>/<N>
Entries:    ${url}/tile/entries/<N>

vkey ${vkey}
qpd ${qpd}
contact ${contact}
`
}

const show = ({ check, message, state }: CheckResult) =>
  Console.log(plain(`${check.padEnd(14)} ${state.padEnd(8)} ${message}`))

const isPublic = (url: string) => url.startsWith("https://")

/** Fails before the first request where the flags contradict each other. */
const plannedPolicy = Effect.fnUntraced(function* (
  log: ServedLog,
  { policy, quorum, witness, witnesses: file }: Flags,
) {
  const witnesses = yield* givenWitnesses(witness, file)
  if (witnesses.length === 0 && Option.isNone(policy) && Option.isNone(quorum)) return Option.none()
  const most = witnesses.length
  const least = Option.getOrElse(quorum, () => most)
  if (most === 0 || Option.isNone(policy) || least < 1 || least > most) {
    return yield* new CommandFailure({
      message: `A policy needs --policy FILE, at least one --witness or --witnesses, and a --quorum from 1 to their number, which is ${most}.`,
    })
  }
  return Option.some({ witnesses, quorum: least, file: yield* ownFile(log, policy.value) })
})

export const joining = Effect.fn("joining")(function* (given: Flags) {
  const { contact, list, seconds, url } = given
  if (!/^[^\p{Cc}]{3,200}$/u.test(contact) || !["staging", "testing"].includes(list) || seconds < 1 || seconds > 3600) {
    return yield* new CommandFailure({
      message: "--contact is one line, --list is testing or staging, and --seconds is from 1 to 3600.",
    })
  }
  const vkey = yield* keyOf(given.vkey)
  const base = url.replace(/\/+$/u, "")
  const log = { url: yield* Effect.orElseSucceed(locate(base), () => `${base}/log`), vkey, seconds }
  const planned = yield* plannedPolicy(log, given)
  yield* Console.log(requestOf(log, list, contact))
  const lines: Array<CheckResult> = [...(yield* checkServed(log))]
  if (!isPublic(log.url)) {
    lines.push({ check: "address", state: "warning", message: `${log.url} is not https: name the public URL` })
  }
  yield* Effect.forEach(lines, show)
  const wrong = lines.filter(({ state }) => state === "failed").length
  if (wrong > 0) return yield* new CommandFailure({ message: "Send the request when the failed checks pass." })
  if (Option.isNone(planned)) {
    return yield* Console.log(
      "Send the request above. When witnesses sign: spirit-altar log join … --witness VKEY,URL --policy FILE",
    )
  }
  const { file, quorum, witnesses } = planned.value
  const asked = yield* askWitnesses(log, witnesses)
  const signers = asked.flatMap(({ hasSigned, witness }) => (hasSigned ? [witness] : []))
  const isEnough = signers.length >= quorum
  for (const { hasSigned, message, witness } of asked) {
    const missing: CheckResult = isEnough
      ? { check: witness.name, state: "warning", message: `left out of the policy: ${message}` }
      : failed(witness.name, message)
    yield* show(hasSigned ? ok(witness.name, message) : missing)
  }
  if (!isEnough) {
    return yield* new CommandFailure({
      message: `${signers.length} of ${witnesses.length} witnesses signed, and ${quorum} must. No policy was written.`,
    })
  }
  yield* writePolicy(log, file, signers, quorum)
  yield* Console.log(
    `${file} asks for ${quorum} of ${signers.length} witnesses. Set LOG_WITNESSES to it on each server, and publish it for readers.`,
  )
}, Effect.provide(Download.plainClient))

export const join = command("join", {
  description:
    "Print the request of a log to a public witness network, and check that its URL serves what witnesses and readers need: checkpoint, signature, tiles, entries, rate. With witnesses: see that each signs, and write the policy file for LOG_WITNESSES and for readers. An existing file is replaced only if this command wrote it for this log. Exit code 1 when a check failed or too few witnesses signed",
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
