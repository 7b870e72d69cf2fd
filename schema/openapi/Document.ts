/** Completes the generated OpenAPI document with header spelling, required keys, plain names and waits. */
import { Predicate } from "effect"
import { exposedHeaders } from "../Common.ts"
import { jsonIn } from "../Json.ts"
import { completed, type JsonSchema, line, withRemark, type Schemas, tidyAll } from "./JsonSchema.ts"
import { shareRepeated } from "./Shared.ts"

interface Parameter {
  name: string
  readonly in: string
  readonly required: boolean
  schema: JsonSchema
  description?: string
}

interface Operation {
  operationId: string
  readonly tags?: ReadonlyArray<string>
  parameters?: ReadonlyArray<Parameter>
  readonly responses: Record<string, ResponseObject>
  security?: ReadonlyArray<object>
}

interface ResponseObject {
  description: string
  readonly content?: Readonly<Record<string, { readonly schema: JsonSchema; example?: unknown }>>
  headers?: Record<string, unknown>
}

interface Document {
  readonly info: Readonly<Record<string, unknown>>
  readonly paths: Record<string, Record<string, Operation>>
  tags: ReadonlyArray<{ readonly name: string }>
  readonly components: {
    readonly schemas: Record<string, JsonSchema>
    readonly securitySchemes: Record<string, object>
  }
}

const isDocument = (value: unknown): value is Document =>
  Predicate.isObject(value) && ["paths", "tags", "components"].every((member) => member in value)

const documentIn = (text: string): Document => {
  const json: unknown = jsonIn(text)
  if (!isDocument(json)) throw new Error("The generator wrote no OpenAPI document.")
  return json
}

/** Header names in their usual spelling. */
const spelled: Readonly<Record<string, string>> = {
  "payment-required": "PAYMENT-REQUIRED",
  "payment-response": "PAYMENT-RESPONSE",
  "payment-receipt": "Payment-Receipt",
  "payment-signature": "PAYMENT-SIGNATURE",
  "idempotency-key": "Idempotency-Key",
  "idempotent-replayed": "Idempotent-Replayed",
  "retry-after": "Retry-After",
  "cache-control": "Cache-Control",
  "www-authenticate": "WWW-Authenticate",
  ratelimit: "RateLimit",
  "ratelimit-policy": "RateLimit-Policy",
  location: "Location",
}

/** A whole number in a query travels as text; its range shows that it is one. */
const asInteger = ({ default: absent, maximum, minimum }: JsonSchema) => ({
  type: "integer",
  ...(minimum === undefined ? {} : { minimum }),
  ...(maximum === undefined ? {} : { maximum }),
  ...(absent === undefined ? {} : { default: absent }),
  examples: [absent ?? 417],
})

const fixParameter = (parameter: Parameter) => {
  const { description: meaning, ...named } = withRemark(parameter.schema)
  if (meaning !== undefined) {
    parameter.description = meaning
    parameter.schema = named
  }
  const { description, maximum, type } = parameter.schema
  if (type === "string" && maximum !== undefined) {
    if (description !== undefined) parameter.description = description
    parameter.schema = asInteger(parameter.schema)
  }
  parameter.name = spelled[parameter.name] ?? parameter.name
}

/** Error classes are named after their encoded side. The wire has no other side, so the suffix is dropped. */
const withoutSuffix = (document: Document): Document => {
  const names = new Set(Object.keys(document.components.schemas))
  const text = JSON.stringify(document).replace(
    /"(#\/components\/schemas\/)?([A-Z][A-Za-z]+)Encoded"/gu,
    (all, ref, name) => (names.has(`${name}Encoded`) && !names.has(name) ? `"${ref ?? ""}${name}"` : all),
  )
  return documentIn(text)
}

/** The generator numbers the copy of a component that two parts annotate. */
const withoutCopies = (document: Document): Document => {
  const { schemas } = document.components
  const nameOf = (copy: string) => copy.replace(/_\d+$/u, "")
  const copies = Object.keys(schemas).filter(
    (name) => nameOf(name) !== name && JSON.stringify(schemas[name]) === JSON.stringify(schemas[nameOf(name)]),
  )
  for (const name of copies) delete schemas[name]
  return documentIn(
    copies.reduce((text, name) => text.replaceAll(`/${name}"`, `/${nameOf(name)}"`), JSON.stringify(document)),
  )
}

const severalRefusals = "Refused: see `code`."

/** Describes the refusals of a response, one or several discriminated by code, by the response's own descriptions. */
const describeRefusals = (response: ResponseObject, schemas: Schemas) => {
  const body = response.content?.["application/json"]?.schema
  const refs = (body?.anyOf ?? (body === undefined ? [] : [body])).map((form) => form.$ref?.split("/").at(-1) ?? "")
  const descriptions = response.description.split(" | ")
  for (const [index, name] of refs.entries()) {
    const schema = schemas[name]
    if (schema !== undefined && schema.description === undefined) {
      schema.description = descriptions[index] ?? response.description
    }
  }
  if (refs.length > 1) response.description = severalRefusals
}

/** Gives components their examples, and every refusal the description of its response. */
const complete = (document: Document) => {
  const { schemas } = document.components
  for (const operations of Object.values(document.paths)) {
    for (const { responses } of Object.values(operations)) {
      for (const response of Object.values(responses)) describeRefusals(response, schemas)
      const { 200: success } = responses
      // Its component says the rest.
      if (success !== undefined) success.description = success.description.replace(/(?<=\.) .*$/su, "")
    }
  }
  const named = Object.keys(schemas).map((name) => [name, completed(name, schemas)] as const)
  for (const [name, schema] of named) schemas[name] = schema
}

/** Names the payment as the security scheme of paid routes; it is the signed offer of the 402. */
const x402 = {
  type: "apiKey",
  // Discovery by agents takes an API key for one that must be requested; this one is a wallet's signature.
  "x-agentcash-auth-kind": "siwx",
  in: "header",
  name: "PAYMENT-SIGNATURE",
  description:
    "x402 v2: a request without it is answered 402 with the offer in PAYMENT-REQUIRED; sign that offer, put the Base64 of the signed payment here, and send the request again. A retry with the same key, URL and body never pays twice; after 202 reconcile instead of paying again. An x402 client does all this; many refuse more than $1 until told otherwise (`spendControls: { maxAmountPerPayment }`).",
}

/** Renames the room token's scheme: discovery ignores bearer schemes and expects this name for such a key. */
const nameInvite = ({ components: { securitySchemes }, paths }: Document) => {
  const { invite } = securitySchemes
  if (invite === undefined) return
  delete securitySchemes["invite"]
  securitySchemes["apiKey"] = invite
  for (const operation of Object.values(paths).flatMap((operations) => Object.values(operations))) {
    if (operation.security?.some((scheme) => "invite" in scheme) === true) operation.security = [{ apiKey: [] }]
  }
}

/** A header that is always sent with the same text. */
const constant = (description: string, text: string, bounds = {}) => ({
  description,
  required: true,
  schema: { type: "string", const: text, ...bounds, examples: [text] },
})

/** Any page may read the altar's answers and pay; the room answers only its own pages. */
const anyOrigin = constant(`\`*\`: pages of any origin may read this answer, and the headers ${exposedHeaders}.`, "*")

/** Rooms have a fixed error body, so a header leads to the page of their codes. */
const help = constant("The pages of all error codes.", '</docs/errors>; rel="help"')

const isOfRoom = (path: string) => path.startsWith("/api/rooms") || ["/api/health", "/livez", "/readyz"].includes(path)

/** The `Retry-After` of every 503, which is sent where the wait is known. */
const retryAfter = {
  required: false,
  schema: {
    type: "string",
    pattern: "^[1-9][0-9]{0,5}$",
    minLength: 1,
    maxLength: 6,
    description: "Seconds to wait, where waiting helps.",
    examples: ["5"],
  },
}

/** A response's headers by its path and status, in their usual spelling. */
const headersOf = (path: string, status: string, { headers = {} }: ResponseObject) => ({
  ...(status === "503" ? { "Retry-After": retryAfter } : {}),
  ...Object.fromEntries(Object.entries(headers).map(([name, header]) => [spelled[name] ?? name, header])),
  ...(isOfRoom(path) ? {} : { "Access-Control-Allow-Origin": anyOrigin }),
  ...(path.startsWith("/api/rooms") && Number(status) >= 400 ? { Link: help } : {}),
})

const tag = { type: "string", pattern: '^"[A-Za-z0-9_-]{22}"$', maxLength: 24, examples: ['"4mJ0a5yX0m5v7h0l0k3B9Q"'] }

/** The headers of a conditional read (RFC 9110). */
const tagged = {
  ETag: { description: "Strong tag of these bytes.", required: true, schema: tag },
  "Cache-Control": constant("`no-cache`: store it, and revalidate before use.", "no-cache", { maxLength: 8 }),
}

const ifNoneMatch = {
  name: "If-None-Match",
  in: "header",
  required: false,
  description: "The ETag of your copy; 304 without a body while it is current (RFC 9110).",
  schema: { type: "string", maxLength: 1024, pattern: "^[ -~]*$", examples: tag.examples },
}

/** Only reads carry tags: health must never be cached, and rooms are polled by sequence. */
const conditional = new Set(["Payments", "Reads", "Receipts", "Witness"])

const makeConditional = (operation: Operation) => {
  const success = operation.responses["200"]
  if (success === undefined || !conditional.has(operation.tags?.[0] ?? "")) return
  operation.parameters = [...(operation.parameters ?? []), ifNoneMatch]
  operation.responses["200"] = { ...success, headers: tagged }
  operation.responses["304"] = { description: "Your copy is current; no body.", headers: tagged }
}

const fixOperation = (path: string, method: string, operation: Operation) => {
  if ("x-payment-info" in operation) operation.security = [{}, { x402: [] }]
  // The operation id is the endpoint's name, without its group.
  operation.operationId = operation.operationId.split(".").at(-1) ?? operation.operationId
  for (const parameter of operation.parameters ?? []) fixParameter(parameter)
  if (method === "get") makeConditional(operation)
  for (const [status, response] of Object.entries(operation.responses)) {
    const headers = headersOf(path, status, response)
    if (Object.keys(headers).length > 0) response.headers = headers
  }
}

/** Gives a settled act of any kind the records and answers of the paid routes. */
const nameRecords = ({ components: { schemas }, paths }: Document) => {
  const paid = Object.values(paths)
    .flatMap((operations) => Object.values(operations))
    .filter((operation) => "x-payment-info" in operation)
  const answers = new Set(
    paid.flatMap(({ responses }) => responses["201"]?.content?.["application/json"]?.schema.$ref ?? []),
  )
  const records = [...answers].flatMap((ref) => schemas[ref.split("/").at(-1) ?? ""]?.properties?.["record"] ?? [])
  const { Act, AnySettled } = schemas
  if (AnySettled !== undefined) Object.assign(AnySettled, { anyOf: [...answers].map(($ref) => ({ $ref })) })
  const record = Act?.properties?.["record"]
  if (record !== undefined) Object.assign(record, { type: undefined, anyOf: records })
}

/** The address of the written document, in servers and examples. */
export const exampleUrl = "https://altar.example"

const description = "The server that publishes this document, in production or as a sandbox."
const servers = [{ url: exampleUrl, description, "x-internal": false }]
/** Discovery shows this text to an agent first. */
const guidance = `Paid acts: POST without a payment is answered 402 with the price and reserves nothing. Choose a new Idempotency-Key for each purchase, sign the offer in PAYMENT-REQUIRED for exactly this URL, and send the same request again with PAYMENT-SIGNATURE. Repeat it with the same key after a lost answer; 202 means do not pay again, POST /api/reconcile/{Idempotency-Key}. Seal words on your side: only their SHA-256 commitment is sent. Signal rooms: POST /api/rooms answers a token for Authorization: Bearer. Every request in full: ${exampleUrl}/llms.txt`
const contact = { name: "Spirit Altar", url: `${exampleUrl}/for-agents` }

/** The finished document with another server's address. */
export const at = <Document extends object>(document: Document, publicUrl: string): Document =>
  JSON.parse(JSON.stringify(document).replaceAll(exampleUrl, () => publicUrl))

export const finish = (generated: Record<string, unknown>): Record<string, unknown> => {
  const document = withoutCopies(withoutSuffix(documentIn(JSON.stringify(generated))))
  for (const [path, operations] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(operations)) fixOperation(path, method, operation)
  }
  // Several groups may share one chapter.
  document.tags = document.tags.filter(({ name }, index, tags) => tags.findIndex((tag) => tag.name === name) === index)
  nameRecords(document)
  nameInvite(document)
  document.components.securitySchemes["x402"] = x402
  tidyAll(document)
  document.components.schemas["Line"] = line
  complete(document)
  return { ...shareRepeated(document), info: { ...document.info, contact, "x-guidance": guidance }, servers }
}
