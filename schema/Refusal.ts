/** The fields of every refusal: its code, its status, and a sentence about the remedy and the charge. */
import { Effect, Schema } from "effect"
import { sentence } from "./Fields.ts"

/** Limited to this request: its payment was not checked yet and may have been charged by an earlier request. */
export const nothingNow = "This request charged nothing."

/** The page of all codes, with an anchor for each. */
export const errorsPath = "/docs/errors"

/** The description of a code, relative to the server; absent from refusals stored before version 0.16. */
const docs = <const Code extends string>(code: Code) => {
  const path = `${errorsPath}#${code}` as const
  return Schema.optionalKey(Schema.Literal(path)).pipe(
    Schema.annotate({ description: "The description of this code, relative to the server." }),
    Schema.withConstructorDefault(Effect.succeed(path)),
  )
}

/** A message by default `fault remedy charge`; its remedy is documented beside it, so that none goes without. */
export const messageOf = (fault: string, remedy: string, charge = "", maximum = 1000) => {
  const message = [fault, remedy, charge].filter((part) => part !== "").join(" ")
  const schema = sentence(message, maximum).annotate({ description: `What to do: ${remedy}` })
  return { message, schema }
}

/** The common fields; `code` discriminates refusals in code and on the wire. */
export const envelope = <const Code extends string>(
  code: Code,
  fault: string,
  remedy: string,
  charge: string = nothingNow,
) => {
  const { message, schema } = messageOf(fault, remedy, charge)
  return {
    ok: Schema.tag(false),
    code: Schema.tag(code),
    message: schema.pipe(Schema.withConstructorDefault(Effect.succeed(message))),
    docs: docs(code),
  }
}

export const at = (httpApiStatus: number, description: string) => ({ httpApiStatus, description })
