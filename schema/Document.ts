/** What the generated OpenAPI document cannot learn from schemas alone: header spelling, required keys, plain names. */

interface Parameter {
  name: string
  readonly in: string
  required: boolean
  schema: Record<string, unknown>
  description?: string
}

interface Operation {
  readonly parameters?: Array<Parameter>
  readonly responses: Record<string, ResponseObject>
}

interface ResponseObject {
  readonly description: string
  readonly content?: Readonly<Record<string, { readonly schema: JsonSchema }>>
  headers?: Record<string, unknown>
}

interface Document {
  readonly paths: Record<string, Record<string, Operation>>
  readonly components: { readonly schemas: Record<string, JsonSchema> }
}

/** Header names as the field writes them. */
const spelled: Readonly<Record<string, string>> = {
  "payment-required": "PAYMENT-REQUIRED",
  "payment-response": "PAYMENT-RESPONSE",
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

/** Bounds of whole-number queries, which the generator writes as strings. */
const wholeNumbers: Readonly<
  Record<string, { minimum?: number; maximum: number; default?: number; description: string }>
> = {
  "readRoom.after": {
    minimum: 0,
    maximum: Number.MAX_SAFE_INTEGER,
    default: 0,
    description: "Only messages with a greater sequence; 0 for the latest 50.",
  },
  "streamRoom.after": {
    minimum: 0,
    maximum: Number.MAX_SAFE_INTEGER,
    default: 0,
    description: "Only messages with a greater sequence; 0 for the latest 50.",
  },
  "listWitnessStones.limit": { maximum: 50, default: 20, description: "How many stones, 1 to 50." },
  "listWitnessStones.before": {
    maximum: Number.MAX_SAFE_INTEGER,
    description: "Only stones with a smaller sequence: the `next` of the page before.",
  },
  "readWitnessChain.from": { maximum: Number.MAX_SAFE_INTEGER, default: 1, description: "First sequence to return." },
  "readWitnessChain.limit": { maximum: 100, default: 50, description: "How many links, 1 to 100." },
}

const fixParameter = (operationId: string, parameter: Parameter) => {
  const bounds = wholeNumbers[`${operationId}.${parameter.name}`]
  if (bounds !== undefined) {
    const { description, ...limits } = bounds
    parameter.schema = { type: "integer", minimum: 1, ...limits }
    parameter.description = description
  }
  // A bare probe may omit it; every request that means to pay must not.
  if (parameter.name === "idempotency-key") parameter.required = true
  parameter.name = spelled[parameter.name] ?? parameter.name
}

const fixHeaders = (headers: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(headers).map(([name, header]) => [spelled[name] ?? name, header]))

/** Error classes are named after their encoded side; the wire has no other, so the suffix goes. */
const withoutSuffix = (document: Document): Document => {
  const names = new Set(Object.keys(document.components.schemas))
  const text = JSON.stringify(document).replace(
    /"(#\/components\/schemas\/)?([A-Z][A-Za-z]+)Encoded"/gu,
    (all, ref, name) => (names.has(`${name}Encoded`) && !names.has(name) ? `"${ref ?? ""}${name}"` : all),
  )
  return JSON.parse(text)
}

interface JsonSchema {
  readonly $ref?: string
  readonly examples?: ReadonlyArray<unknown>
  readonly const?: unknown
  readonly enum?: ReadonlyArray<unknown>
  readonly anyOf?: ReadonlyArray<JsonSchema>
  readonly allOf?: ReadonlyArray<JsonSchema>
  readonly type?: string
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly items?: JsonSchema
  readonly prefixItems?: ReadonlyArray<JsonSchema>
  readonly minimum?: number
  description?: string
}

/** An example put together from the examples of the parts. */
const exampleOf = (schema: JsonSchema, schemas: Readonly<Record<string, JsonSchema>>): unknown => {
  if (schema.examples?.[0] !== undefined) return schema.examples[0]
  if (schema.const !== undefined) return schema.const
  if (schema.enum !== undefined) return schema.enum[0]
  if (schema.$ref !== undefined) return exampleOf(schemas[schema.$ref.split("/").at(-1) ?? ""] ?? {}, schemas)
  const choice = schema.anyOf?.[0] ?? schema.allOf?.[0]
  if (choice !== undefined) return exampleOf(choice, schemas)
  switch (schema.type) {
    case "object":
      return Object.fromEntries(
        Object.entries(schema.properties ?? {}).map(([name, property]) => [name, exampleOf(property, schemas)]),
      )
    case "array":
      return (schema.prefixItems ?? (schema.items === undefined ? [] : [schema.items])).map((item) =>
        exampleOf(item, schemas),
      )
    case "integer":
    case "number":
      return schema.minimum !== undefined && schema.minimum > 0 ? schema.minimum : 1
    case "boolean":
      return true
    case "null":
      return null
    default:
      return "text"
  }
}

/** A response that is one refusal, or several told apart by code, describes the refusals themselves. */
const describeRefusals = (response: ResponseObject, schemas: Readonly<Record<string, JsonSchema>>) => {
  const body = response.content?.["application/json"]?.schema
  const refs = (body?.anyOf ?? (body === undefined ? [] : [body])).map((one) => one.$ref?.split("/").at(-1) ?? "")
  const descriptions = response.description.split(" | ")
  for (const [index, name] of refs.entries()) {
    const schema = schemas[name]
    if (schema !== undefined && schema.description === undefined) {
      schema.description = descriptions[index] ?? response.description
    }
  }
}

/** Every component has an example, and every refusal the description of its response. */
const complete = (document: Document) => {
  const { schemas } = document.components
  for (const operations of Object.values(document.paths)) {
    for (const { responses } of Object.values(operations)) {
      for (const response of Object.values(responses)) describeRefusals(response, schemas)
    }
  }
  for (const [name, written] of Object.entries(schemas)) {
    const { allOf, ...plain } = written
    const schema: JsonSchema = allOf?.length === 1 ? { ...plain, ...allOf[0] } : written
    const said = schema.description ?? schema.properties?.["message"]?.examples?.[0]
    schemas[name] = {
      ...schema,
      ...(said === undefined ? {} : { description: String(said) }),
      examples: schema.examples ?? [exampleOf(schema, schemas)],
    }
  }
}

/** Applied to a copy of the generated document. */
export const finish = (generated: Record<string, unknown>): Record<string, unknown> => {
  const document = withoutSuffix(JSON.parse(JSON.stringify(generated)))
  for (const operations of Object.values(document.paths)) {
    for (const operation of Object.values(operations)) {
      const id = "operationId" in operation ? String(operation.operationId) : ""
      for (const parameter of operation.parameters ?? []) fixParameter(id, parameter)
      for (const response of Object.values(operation.responses)) {
        if (response.headers !== undefined) response.headers = fixHeaders(response.headers)
      }
    }
  }
  complete(document)
  return { ...document }
}
