/** What went wrong, as the one line a person at a terminal needs. */
import { Cause, Predicate, Schema } from "effect"

/** A command that cannot go on, and why, in one sentence. */
export class Trouble extends Schema.TaggedError<Trouble>()("Trouble", { message: Schema.String }) {}

const codeOf = (error: unknown): string | undefined =>
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

/** The cause as one line. */
export const oneLine = (cause: Cause.Cause<unknown>): string => {
  const error = Cause.squash(cause)
  if (codeOf(error) === "EADDRINUSE") {
    return `${addressOf(error)} is taken by another program: stop it, or choose another port with PORT=3001.`
  }
  const message = Predicate.isObject(error) && "message" in error ? String(error.message) : String(error)
  return (message.split("\n").slice(0, 6).join("\n") || String(error)).trim()
}
