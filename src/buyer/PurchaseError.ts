/** How a purchase can end without its act: refused, with nothing charged by it, or open, to be taken up again. */
import { Schema } from "effect"

/** Over. `code` is the altar's own, or one of ours; the sentence says what to do and what was charged. */
export class Refused extends Schema.TaggedError<Refused>()("Refused", {
  code: Schema.String,
  message: Schema.String,
  key: Schema.optionalKey(Schema.String),
}) {}

/** Not over: signed and sent, and nobody has said yet how it ended. The same key takes it up again, unsigned. */
export class Open extends Schema.TaggedError<Open>()("Open", {
  message: Schema.String,
  key: Schema.String,
}) {}

export const refuse = (code: string, message: string, key?: string) =>
  new Refused({ code, message, ...(key === undefined ? {} : { key }) })

/** The words of a refusal, of an altar or of a room. */
export interface RefusalWords {
  readonly code: string
  readonly message: string
}

const isRefusal = Schema.is(Schema.Struct({ code: Schema.String, message: Schema.String }))
const isRoomRefusal = Schema.is(
  Schema.Struct({ error: Schema.Struct({ code: Schema.String, message: Schema.String }) }),
)

/** Undefined when nobody refused: no answer, or one that the contract does not know. */
export const refusalIn = (error: unknown): RefusalWords | undefined =>
  isRefusal(error) ? error : isRoomRefusal(error) ? error.error : undefined

/** Why there was no answer, in one line. */
export const reasonOf = (error: unknown): string =>
  (error instanceof Error ? (error.message.split("\n")[0] ?? "").replace(/[.:]$/u, "") : "") || "no answer"
