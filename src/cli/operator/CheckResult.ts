/** A line of `serve --check`: the check and its result. */
import { Duration, Effect, Schema } from "effect"
import { clockTolerance } from "../../platform/DatabaseClock.ts"
import { ChainUnavailable } from "../../payments/chain/Rpc.ts"
import { plain } from "../Output.ts"
import { codeOf } from "../CommandFailure.ts"

export interface CheckResult {
  readonly check: string
  readonly state: "ok" | "failed" | "warning" | "skipped"
  readonly message: string
}

export const ok = (check: string, message: string): CheckResult => ({ check, state: "ok", message })
export const failed = (check: string, message: string): CheckResult => ({ check, state: "failed", message })
export const warning = (check: string, message: string): CheckResult => ({ check, state: "warning", message })

export const checkTimeout = Duration.seconds(10)

const skewMaximum = Duration.toSeconds(clockTolerance)

/** Runs a check; a failure becomes a line without the environment's secrets, which an answer may quote. */
export const runCheck = <E>(
  check: string,
  secrets: ReadonlyArray<string>,
  run: Effect.Effect<CheckResult, E>,
): Effect.Effect<CheckResult> =>
  run.pipe(
    Effect.timeout(checkTimeout),
    Effect.catchCause((cause) => {
      const reason = reasonOf(
        cause.reasons.map((one) => ("error" in one ? one.error : "defect" in one ? one.defect : ""))[0],
      )
      const said = secrets.reduce((text, secret) => text.replaceAll(secret, "…"), reason)
      return Effect.succeed(failed(check, plain(said).slice(0, 300)))
    }),
  )

const Named = Schema.Struct({ _tag: Schema.String })
const Messaged = Schema.Struct({ message: Schema.NonEmptyString })

/** The reason in the words of the failing service, and the system's code. */
const reasonOf = (error: unknown): string => {
  const code = codeOf(error)
  return `${sentenceOf(error)}${code === undefined ? "" : ` (${code})`}`
}

const sentenceOf = (error: unknown): string => {
  if (Schema.is(ChainUnavailable)(error)) {
    const { detail, method, reason, status } = error
    return `RPC_URL did not answer ${method}: ${detail ?? reason}${status === undefined ? "" : `, status ${status}`}`
  }
  if (Schema.is(Named)(error) && error._tag === "TimeoutError") return "no answer within 10 seconds"
  return Schema.is(Messaged)(error)
    ? (error.message.split("\n")[0] ?? "").replace(/^PgConnection: /u, "")
    : "it does not answer"
}

export const skewLine = (check: string, seconds: number, of: string): CheckResult =>
  Math.abs(seconds) > skewMaximum
    ? failed(
        check,
        `this machine's clock is ${Math.abs(Math.round(seconds))} s ${seconds > 0 ? "ahead of" : "behind"} ${of}: set it by NTP`,
      )
    : ok(check, `within ${Math.ceil(Math.abs(seconds))} s of ${of}`)
