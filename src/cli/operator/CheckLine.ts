/** A line of `serve --check`: what was asked, and what came of it. */
import { Duration, Effect, Schema } from "effect"
import { clockTolerance } from "../../platform/DatabaseClock.ts"
import { plain } from "../Output.ts"
import { codeOf } from "../Trouble.ts"

export interface Line {
  readonly check: string
  readonly state: "ok" | "failed" | "warning" | "skipped"
  readonly says: string
}

export const ok = (check: string, says: string): Line => ({ check, state: "ok", says })
export const failed = (check: string, says: string): Line => ({ check, state: "failed", says })

export const patience = Duration.seconds(10)

const mostSkew = Duration.toSeconds(clockTolerance)

/** A failure is a line as well; what an answer may quote, secrets of the environment, is taken out of it. */
export const line = <E>(
  check: string,
  secrets: ReadonlyArray<string>,
  run: Effect.Effect<Line, E>,
): Effect.Effect<Line> =>
  run.pipe(
    Effect.timeout(patience),
    Effect.catchCause((cause) => {
      const reason = reasonOf(
        cause.reasons.map((one) => ("error" in one ? one.error : "defect" in one ? one.defect : ""))[0],
      )
      const said = secrets.reduce((text, secret) => text.replaceAll(secret, "…"), reason)
      return Effect.succeed(failed(check, plain(said).slice(0, 300)))
    }),
  )

const Said = Schema.Struct({ details: Schema.NonEmptyString })
const Named = Schema.Struct({ _tag: Schema.String })
const Messaged = Schema.Struct({ message: Schema.NonEmptyString })

/** The node did not answer, or not as it should. */
export class Unanswered extends Schema.TaggedError<Unanswered>()("Unanswered", { cause: Schema.Unknown }) {}

/** What went wrong, in the words of whoever said it, and the system's. */
const reasonOf = (error: unknown): string => {
  const code = codeOf(error)
  return `${sentenceOf(error)}${code === undefined ? "" : ` (${code})`}`
}

const sentenceOf = (given: unknown): string => {
  const error = given instanceof Unanswered ? given.cause : given
  if (Schema.is(Said)(error)) return error.details
  if (Schema.is(Named)(error) && error._tag === "TimeoutError") return "no answer within 10 seconds"
  return Schema.is(Messaged)(error)
    ? (error.message.split("\n")[0] ?? "").replace(/^PgConnection: /u, "")
    : "it does not answer"
}

export const skewLine = (check: string, seconds: number, of: string): Line =>
  Math.abs(seconds) > mostSkew
    ? failed(
        check,
        `this machine's clock is ${Math.abs(Math.round(seconds))} s ${seconds > 0 ? "ahead of" : "behind"} ${of}: set it by NTP`,
      )
    : ok(check, `within ${Math.ceil(Math.abs(seconds))} s of ${of}`)
