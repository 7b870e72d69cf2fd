/** The logs of `log join`, that over the stones and that over all acts beside it, and their request to a network. */
import { type Array as Arr, Effect, Option } from "effect"
import { HttpClientRequest } from "effect/http"
import { Malformed } from "../../../schema/log/Bytes.ts"
import { answerLimit } from "../../platform/Answers.ts"
import { ofActs } from "../../log/Log.ts"
import { fromText } from "../../log/Signer.ts"
import { logVerifier } from "../../log/Verifier.ts"
import { log as variables } from "../../server/config/Table.ts"
import { CommandFailure } from "../CommandFailure.ts"
import type { CheckResult } from "../operator/CheckResult.ts"
import * as Download from "../verify/Download.ts"
import type { ServedLog } from "./ServedLog.ts"

interface Named {
  readonly vkey: Option.Option<string>
  readonly actsVkey: Option.Option<string>
  readonly seconds: number
}

const valid = (flag: string, vkey: string) => {
  const verifier = logVerifier(vkey)
  return verifier instanceof Malformed
    ? Effect.fail(new CommandFailure({ message: `${flag}: ${verifier.message}` }))
    : Effect.succeed(vkey)
}

/** The keys of both logs, as named or by LOG_KEY. */
export const keysOf = Effect.fn("keysOf")(function* ({ actsVkey, seconds, vkey }: Named) {
  const named = Option.isNone(actsVkey) ? actsVkey : Option.some(yield* valid("--acts-vkey", actsVkey.value))
  if (Option.isSome(vkey)) return { stones: yield* valid("--vkey", vkey.value), acts: named }
  const secret = yield* variables.key
  if (Option.isNone(secret)) {
    return yield* new CommandFailure({ message: "Name the log's verifier key with --vkey, or set LOG_KEY." })
  }
  const signer = yield* Effect.fromResult(fromText(secret.value))
  const actsOrigin = yield* variables.actsOrigin
  const own = { origin: signer.name, signer, checkpointFile: Option.none<string>(), publishSeconds: seconds }
  const acts = ofActs({ ...own, ...(Option.isNone(actsOrigin) ? {} : { actsOrigin: actsOrigin.value }) })
  return { stones: signer.vkey, acts: Option.orElse(named, () => Option.some(acts.signer.vkey)) }
})

/** The log over all acts is one of the logs where it is served, or where the written policy names it. */
export const logsOf = Effect.fn("logsOf")(function* (log: ServedLog, vkey: Option.Option<string>, written: string) {
  const url = `${log.url}/acts`
  const missing = yield* Effect.match(Download.fullAnswerOf(HttpClientRequest.get(`${url}/checkpoint`), answerLimit), {
    onFailure: ({ why }) => (why.endsWith(" 404") ? Option.some(why) : Option.none()),
    onSuccess: () => Option.none(),
  })
  const alone: Arr.NonEmptyReadonlyArray<ServedLog> = [log]
  const only = (message: string) => ({
    logs: alone,
    lines: [{ check: "acts/checkpoint", state: "warning", message: `${url} ${message}` } satisfies CheckResult],
  })
  if (Option.isNone(vkey)) {
    return Option.isSome(missing)
      ? { logs: alone, lines: [] }
      : only("is served, too: name its key with --acts-vkey, or set LOG_KEY")
  }
  if (Option.isSome(missing) && !written.includes(`log ${vkey.value} `)) {
    return only("is not served, so nobody is asked to sign the log over all acts")
  }
  const both: Arr.NonEmptyReadonlyArray<ServedLog> = [log, { ...log, url, vkey: vkey.value, prefix: "acts/" }]
  return { logs: both, lines: [] }
})

const nameIn = (vkey: string) => vkey.split("+")[0] ?? ""

/** The mail to a witness network (witness-network.org), with the lines of the logs for a list (log-list format v0). */
export const requestOf = (logs: Arr.NonEmptyReadonlyArray<ServedLog>, list: string, contact: string) => {
  // Each checkpoint may be asked for twice.
  const perDay = ({ seconds }: ServedLog) => 2 * Math.floor(86_400 / seconds)
  const parts = logs.map(
    (log) => `Origin:     ${nameIn(log.vkey)}
Key:        ${log.vkey}
Rate:       at most one checkpoint every ${log.seconds} s and one retry of each, ${perDay(log)} requests a day
List:       ${list}
Contact:    ${contact}
Checkpoint: ${log.url}/checkpoint
Tiles:      ${log.url}/tile/<L>/<N>
Entries:    ${log.url}/tile/entries/<N>
`,
  )
  const lines = logs.map((log) => `vkey ${log.vkey}\nqpd ${perDay(log)}\ncontact ${contact}\n`)
  return `To: participate@lists.witness-network.org
Subject: Log ${logs.map(({ vkey }) => nameIn(vkey)).join(" and ")} for the ${list} list

${[...parts, ...lines].join("\n")}`
}
