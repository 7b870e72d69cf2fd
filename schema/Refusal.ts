/** The fields of every refusal: its code, its status, and a sentence about the remedy and the charge. */
import { Effect, Schema, SchemaAST } from "effect"
import { patterned, sentence, waitSeconds } from "./Fields.ts"

/** The members that every refusal of the altar has. */
export interface Refusal {
  readonly code: string
  readonly message: string
}

/** Limited to this request: its payment was not checked yet and may have been charged by an earlier request. */
export const nothingNow = "This request charged nothing."

/** The page of all codes, with an anchor for each. */
export const errorsPath = "/docs/errors"

const Docs = patterned(/^\/docs\/errors#[a-z_]{1,60}$/u, 74, 15).annotate({
  identifier: "ErrorDocs",
  description: "The description of a code, relative to the server.",
  examples: [`${errorsPath}#not_found`],
})

const Message = sentence("No such page.", 1000).annotate({
  identifier: "RefusalMessage",
  description: "The fault, the remedy, and the charge.",
})

/** A message by default `fault remedy charge`, so that none goes without its remedy. */
export const messageOf = (fault: string, remedy: string, charge = "") => {
  const message = [fault, remedy, charge].filter((part) => part !== "").join(" ")
  return { message, schema: Message.annotateKey({ examples: [message] }) }
}

/** The common fields; `code` discriminates refusals in code and on the wire. */
export const envelope = <const Code extends string>(
  code: Code,
  fault: string,
  remedy: string,
  charge: string = nothingNow,
) => {
  const { message, schema } = messageOf(fault, remedy, charge)
  const docs = `${errorsPath}#${code}`
  return {
    ok: Schema.tag(false),
    code: Schema.tag(code),
    message: schema.pipe(Schema.withConstructorDefault(Effect.succeed(message))),
    docs: Docs.annotateKey({ examples: [docs] }).pipe(Schema.withConstructorDefault(Effect.succeed(docs))),
  }
}

/** The status and description of a refusal, and the seconds after which its request may be sent again. */
export const at = (httpApiStatus: number, description: string, retryAfter?: number) => ({
  httpApiStatus,
  description,
  ...(retryAfter === undefined ? {} : { retryAfter }),
})

const isSchema = (maker: unknown): maker is { readonly ast: SchemaAST.AST } =>
  typeof maker === "function" && "ast" in maker

/** The status of a refusal's class or schema. */
export const statusIn = ({ ast }: { readonly ast: SchemaAST.AST }) => SchemaAST.resolveAt<number>("httpApiStatus")(ast)

const declared = (refusal: object, name: "httpApiStatus" | "retryAfter"): number | undefined => {
  const maker: unknown = refusal.constructor
  return isSchema(maker) ? SchemaAST.resolveAt<number>(name)(maker.ast) : undefined
}

/** The status that the class of a refusal declares. */
export const statusOf = (refusal: object): number => declared(refusal, "httpApiStatus") ?? 500

/** Seconds until the request may be sent again: the refusal's own, or those that its class declares. */
export const waitOf = (refusal: object): number | undefined =>
  "retryAfter" in refusal && typeof refusal.retryAfter === "number"
    ? refusal.retryAfter
    : declared(refusal, "retryAfter")

/** The mapping of a refusal to a body, which is the refusal, and headers. */
export const headed = <A, Headers>(headersOf: (error: A) => Headers) => ({
  decode: ({ body }: { readonly body: A }) => body,
  encode: (error: A) => ({ body: error, headers: headersOf(error) }),
})

/** The header of a refusal that states its wait, and its mapping. */
export const waits = { "retry-after": waitSeconds() }
export const waiting = <A extends object>() => headed((error: A) => ({ "retry-after": String(waitOf(error)) }))
