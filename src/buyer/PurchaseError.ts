/** The ways a purchase can end without its act: refused, open, or answered with another act. */
import { Schema } from "effect"

export const Difference = Schema.Struct({ field: Schema.String, bought: Schema.String, recorded: Schema.String })

/** Final. `code` is the altar's or the library's; the sentence says what to do and what was charged. */
export class Refused extends Schema.TaggedError<Refused>()("Refused", {
  code: Schema.String,
  message: Schema.String,
  key: Schema.optionalKey(Schema.String),
}) {}

/** Not final: signed and sent, but the outcome is unknown. The same key resumes it without signing. */
export class Open extends Schema.TaggedError<Open>()("Open", {
  message: Schema.String,
  key: Schema.String,
}) {}

/** The altar answered with something else than was bought. Signed payment and answer stay in the journal. */
export class Misrecorded extends Schema.TaggedError<Misrecorded>()("Misrecorded", {
  message: Schema.String,
  key: Schema.String,
  differences: Schema.Array(Difference),
}) {}

/** Every way a purchase can end without its act. */
export type Unsettled = Refused | Open | Misrecorded

export const isUnsettled = Schema.is(Schema.Union([Refused, Open, Misrecorded]))

export const refuse = (code: string, message: string, key?: string) =>
  new Refused({ code, message, ...(key === undefined ? {} : { key }) })

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** The deepest cause: `fetch failed` alone names no fault. */
const rootOf = (error: unknown): unknown => {
  const cause = error instanceof AggregateError ? error.errors[0] : error instanceof Error ? error.cause : undefined
  return cause instanceof Error ? rootOf(cause) : error
}

/** The reason of a missing answer, in one line. */
export const reasonOf = (error: unknown): string => {
  const root = rootOf(error)
  return (root instanceof Error ? (root.message.split("\n")[0] ?? "").replace(/[.:]$/u, "") : "") || "no answer"
}
