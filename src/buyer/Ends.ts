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

/** What an altar or a room says in its refusal. */
export interface Saying {
  readonly code: string
  readonly message: string
  /** Seconds. */
  readonly retryAfter?: number
}

const isSaying = Schema.is(
  Schema.Struct({ code: Schema.String, message: Schema.String, retryAfter: Schema.optionalKey(Schema.Finite) }),
)
const isRoomSaying = Schema.is(
  Schema.Struct({
    error: Schema.Struct({ code: Schema.String, message: Schema.String }),
    retryAfter: Schema.optionalKey(Schema.Finite),
  }),
)

/** Undefined when nobody said anything: no answer, or one that the contract does not know. */
export const sayingOf = (error: unknown): Saying | undefined =>
  isSaying(error)
    ? error
    : isRoomSaying(error)
      ? { ...error.error, ...(error.retryAfter === undefined ? {} : { retryAfter: error.retryAfter }) }
      : undefined

/** Why there was no answer, in one line. */
export const because = (error: unknown): string =>
  (error instanceof Error ? (error.message.split("\n")[0] ?? "").replace(/[.:]$/u, "") : "") || "no answer"
