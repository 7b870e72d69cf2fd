/** How a purchase can end without its act: refused, open and to be taken up again, or answered with another act. */
import { Schema } from "effect"

/** A field of an answer that is not what was bought. */
export const Difference = Schema.Struct({ field: Schema.String, bought: Schema.String, recorded: Schema.String })

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

/** The altar answered with something else than was bought. Signed payment and answer stay in the journal. */
export class Misrecorded extends Schema.TaggedError<Misrecorded>()("Misrecorded", {
  message: Schema.String,
  key: Schema.String,
  differences: Schema.Array(Difference),
}) {}

/** Every way a purchase can end without its act. */
export type Unsettled = Refused | Open | Misrecorded

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
