/** What went wrong, as the one line a person at a terminal needs. */
import { Cause, Config, Predicate, Schema } from "effect"

/** A command that cannot go on, and why, in one sentence; with the altar's own refusal where it gave one. */
export class Trouble extends Schema.TaggedError<Trouble>()("Trouble", {
  message: Schema.String,
  refusal: Schema.optionalKey(Schema.Struct({ code: Schema.String, message: Schema.String })),
}) {}

/** The system's own name of a failure, however deep it lies: `ECONNREFUSED`. */
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

/** Which variable is missing or wrong, and how; a value is never shown, it may be a secret. */
const ofConfig = ({ cause }: Config.ConfigError): string => {
  const [wrong, at = ""] = cause.message.split(/\n\s*at /u)
  const name = [...at.matchAll(/"(\w+)"/gu)].map(([, part]) => part).join("_")
  if (name === "") return cause.message
  const help = "serve --help says what each variable holds."
  return process.env[name] === undefined || process.env[name] === ""
    ? `${name} is not set: set it in the environment; ${help}`
    : `${name} is wrong: ${wrong ?? "it cannot be read"}; ${help}`
}

/** The cause as one line. */
export const oneLine = (cause: Cause.Cause<unknown>): string => {
  const error = Cause.squash(cause)
  if (codeOf(error) === "EADDRINUSE") {
    return `${addressOf(error)} is taken by another program: stop it, or choose another port with PORT=3001.`
  }
  if (error instanceof Config.ConfigError) return ofConfig(error)
  const message = Predicate.isObject(error) && "message" in error ? String(error.message) : String(error)
  if (message.startsWith("PgConnection: "))
    return `The database cannot be used: ${message.slice("PgConnection: ".length)}; check DATABASE_URL.`
  return (message.split("\n").slice(0, 6).join("\n") || String(error)).trim()
}
