/** The fields of every refusal: its code, its status, and a sentence about the remedy and the charge. */
import { Effect, Schema } from "effect"
import { sentence } from "./Fields.ts"

/** Limited to this request: its payment was not checked yet and may have been charged by an earlier request. */
export const nothingNow = "This request charged nothing."

/** The page of a code, relative to the server; absent from refusals stored before version 0.16. */
const docs = <const Code extends string>(code: Code) => {
  const path = `/docs/errors/${code}` as const
  return Schema.optionalKey(Schema.Literal(path)).pipe(
    Schema.annotate({ description: "The page of this code, relative to the server." }),
    Schema.withConstructorDefault(Effect.succeed(path)),
  )
}

/** The common fields; `code` discriminates refusals in code and on the wire. */
export const envelope = <const Code extends string>(code: Code, message: string) => ({
  ok: Schema.tag(false),
  code: Schema.tag(code),
  message: sentence(message, 1000).pipe(Schema.withConstructorDefault(Effect.succeed(message))),
  docs: docs(code),
})

export const at = (httpApiStatus: number, description: string) => ({ httpApiStatus, description })
