/** Failures of commands: as one line for a person, and as a document for a program. */
import { Cause, Config, Console, Effect, Predicate, Schema } from "effect"
import { SqlError } from "effect/sql"
import { isUnsettled } from "../buyer/PurchaseError.ts"
import { reasonIn } from "../platform/Sql.ts"
import { compact, plain } from "./Output.ts"

/** A command cannot go on; the message says why in one sentence. */
export class CommandFailure extends Schema.TaggedError<CommandFailure>()("CommandFailure", {
  message: Schema.String,
}) {}

/** The checked thing is invalid: the command's answer, not its failure. The message says what and where. */
export class CheckFailed extends Schema.TaggedError<CheckFailed>()("CheckFailed", {
  message: Schema.String,
  /** The check has printed its document already. */
  isPrinted: Schema.optionalKey(Schema.Boolean),
}) {}

export const broken = (where: string, why: string) => new CheckFailed({ message: plain(`BROKEN at ${where}: ${why}`) })

/** The deepest cause of a failure. */
const rootOf = (error: unknown): object =>
  !Predicate.isObject(error) ? {} : "cause" in error && Predicate.isObject(error.cause) ? rootOf(error.cause) : error

const memberOf = (error: object, name: string) => (Predicate.hasProperty(error, name) ? String(error[name]) : "?")

/** The system's code in the deepest cause: `ECONNREFUSED`. */
export const codeOf = (error: unknown) => memberOf(rootOf(error), "code")

/** The codes of the system and of PostgreSQL. */
const fullDisk = new Set(["ENOSPC", "53100"])
const connectionFaults = new Set(["ConnectionError", "AuthenticationError"])

const messageOf = (error: unknown): string =>
  (Predicate.isObject(error) && "message" in error ? String(error.message) : "") || String(error)

export const oneLine = (cause: Cause.Cause<unknown>): string => {
  const error = Cause.squash(cause)
  // The words of an altar.
  if (isUnsettled(error)) return plain(error.message)
  const root = rootOf(error)
  if (codeOf(error) === "EADDRINUSE")
    return `${memberOf(root, "address")}:${memberOf(root, "port")} is taken by another program: stop it, or choose another port with PORT=3001.`
  if (error instanceof Config.ConfigError) return error.cause.message
  if (fullDisk.has(codeOf(error)))
    return "The disk is full. Free some space, or let a sandbox use another disk with DATA_DIR, and run this again."
  if (SqlError.isSqlError(error) && connectionFaults.has(error.reason._tag))
    return `The database cannot be used: ${reasonIn(cause)}; check DATABASE_URL.`
  return messageOf(error).split("\n").slice(0, 6).join("\n").trim()
}

/** The members of a failure's document that are for programs. */
export const factsOf = (error: unknown) => {
  if (!isUnsettled(error)) return { code: error instanceof CheckFailed ? "broken" : "trouble" }
  const { code, key } = error
  return { code, key, ...(error._tag === "Misrecorded" ? { differences: error.differences } : {}) }
}

/** Prints one sentence to stderr and, with `--json`, one document to stdout, unless a check printed its own. */
export const report = (cause: Cause.Cause<unknown>, isJson: boolean) => {
  const error = Cause.squash(cause)
  const message = oneLine(cause)
  const isDue = isJson && !(error instanceof CheckFailed && error.isPrinted === true)
  return Effect.andThen(
    isDue ? Console.log(compact({ ok: false, message, ...factsOf(error) })) : Effect.void,
    Console.error(message),
  )
}
