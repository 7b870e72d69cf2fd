/** Failures of commands, and any failure as one line for a person. */
import { Cause, Config, Predicate, Schema } from "effect"

/** A command cannot go on; the message says why in one sentence. */
export class CommandFailure extends Schema.TaggedError<CommandFailure>()("CommandFailure", {
  message: Schema.String,
}) {}

/** The checked thing is invalid: the command's answer, not its failure. The message says what and where. */
export class CheckFailed extends Schema.TaggedError<CheckFailed>()("CheckFailed", { message: Schema.String }) {}

/** The system's code in a failure at any depth: `ECONNREFUSED`. */
export const codeOf = (error: unknown): string | undefined =>
  Predicate.isObject(error)
    ? "code" in error && typeof error.code === "string"
      ? error.code
      : "cause" in error
        ? codeOf(error.cause)
        : undefined
    : undefined

const addressOf = (error: unknown): string =>
  Predicate.isObject(error) && "cause" in error && Predicate.isObject(error.cause)
    ? `${"address" in error.cause ? String(error.cause.address) : "this address"}:${"port" in error.cause ? String(error.cause.port) : "?"}`
    : "this address"

/** The words of a failure. */
export const messageOf = (error: unknown): string =>
  (Predicate.isObject(error) && "message" in error ? String(error.message) : "") || String(error)

export const oneLine = (cause: Cause.Cause<unknown>): string => {
  const error = Cause.squash(cause)
  if (codeOf(error) === "EADDRINUSE") {
    return `${addressOf(error)} is taken by another program: stop it, or choose another port with PORT=3001.`
  }
  if (error instanceof Config.ConfigError) return error.cause.message
  const message = messageOf(error)
  if (message.startsWith("PgConnection: "))
    return `The database cannot be used: ${message.slice("PgConnection: ".length)}; check DATABASE_URL.`
  return message.split("\n").slice(0, 6).join("\n").trim()
}
