/** What every refusal says: its code, its status, and a sentence that says what to do and what was charged. */
import { Effect, Schema } from "effect"
import { sentence } from "./Bounds.ts"

/** Of the request alone: a payment may have been brought that nobody has looked at yet, and it may have paid before. */
export const nothingNow = "This request charged nothing."

/** The common fields; `code` tells refusals apart, in our code as on the wire. */
export const envelope = <const Code extends string>(code: Code, message: string) => ({
  ok: Schema.tag(false),
  code: Schema.tag(code),
  message: sentence(message, 1000).pipe(Schema.withConstructorDefault(Effect.succeed(message))),
})

export const at = (httpApiStatus: number, description: string) => ({ httpApiStatus, description })
