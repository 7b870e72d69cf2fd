/** Completes the document's JSON Schemas: descriptions, examples, number formats, and unions discriminated by code. */
import { examples as corrections } from "./Examples.ts"
import { portable } from "./Pattern.ts"

export interface JsonSchema {
  $ref?: string
  examples?: ReadonlyArray<unknown>
  readonly const?: unknown
  readonly default?: unknown
  readonly enum?: ReadonlyArray<unknown>
  readonly anyOf?: ReadonlyArray<JsonSchema>
  allOf?: ReadonlyArray<JsonSchema>
  readonly type?: string
  readonly properties?: Readonly<Record<string, JsonSchema>>
  additionalProperties?: unknown
  items?: unknown
  prefixItems?: ReadonlyArray<JsonSchema>
  readonly minimum?: number
  readonly maximum?: number
  pattern?: string
  format?: string
  discriminator?: object
  description?: string
}

export type Schemas = Readonly<Record<string, JsonSchema>>

const nameOf = ($ref: string) => $ref.split("/").at(-1) ?? ""

const isSchema = (value: unknown): value is JsonSchema => typeof value === "object" && value !== null

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  isSchema(value) && !Array.isArray(value)

const corrected = (example: unknown, right: unknown): unknown =>
  right === undefined
    ? example
    : isObject(example) && isObject(right)
      ? Object.fromEntries(
          Object.entries({ ...example, ...right }).flatMap(([name, value]) => {
            const member = name in right && value !== undefined ? corrected(example[name], value) : value
            return member === undefined ? [] : [[name, member]]
          }),
        )
      : right

/** Composes an example from the examples of the parts. */
export const exampleOf = (schema: JsonSchema, schemas: Schemas): unknown => {
  const { $ref, examples } = schema
  if (examples?.[0] !== undefined) return examples[0]
  if ($ref !== undefined) return corrected(exampleOf(schemas[nameOf($ref)] ?? {}, schemas), corrections[nameOf($ref)])
  if (schema.const !== undefined) return schema.const
  if (schema.enum !== undefined) return schema.enum[0]
  const choice = schema.anyOf?.[0] ?? schema.allOf?.[0]
  if (choice !== undefined) return exampleOf(choice, schemas)
  switch (schema.type) {
    case "object":
      return Object.fromEntries(
        Object.entries(schema.properties ?? {}).map(([name, property]) => [name, exampleOf(property, schemas)]),
      )
    case "array":
      return (schema.prefixItems ?? (isSchema(schema.items) ? [schema.items] : [])).map((item) =>
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

/** The constant `code` of a refusal, if it has one. */
const codeOf = (schema: JsonSchema | undefined) => {
  const code = schema?.properties?.["code"]
  return code?.const ?? (code?.enum?.length === 1 ? code.enum[0] : undefined)
}

/** Names the discriminator of a union of refusals; generators in some languages need it. */
const discriminate = (schema: JsonSchema, schemas: Schemas) => {
  const refs = (schema.anyOf ?? []).map(({ $ref }) => $ref ?? "")
  const codes = refs.map((ref) => codeOf(schemas[nameOf(ref)]))
  if (refs.length < 2 || codes.some((code) => typeof code !== "string") || new Set(codes).size < codes.length) return
  const mapping = Object.fromEntries(codes.map((code, index) => [String(code), refs[index]]))
  schema.discriminator = { propertyName: "code", mapping }
}

const largestInt32 = 2 ** 31 - 1

const isRemark = (schema: JsonSchema) => Object.keys(schema).every((name) => name === "description")

/** Puts a description beside the schema it belongs to instead of in an `allOf` with it. */
export const withRemark = (schema: JsonSchema): JsonSchema => {
  const { allOf = [], ...rest } = schema
  const remark = allOf.find(isRemark)
  const others = allOf.filter((one) => !isRemark(one))
  if (remark === undefined || others.length > 1) return schema
  return { ...rest, ...others[0], ...remark }
}

const tidy = (schema: JsonSchema, schemas: Schemas) => {
  const remarked = withRemark(schema)
  if (remarked !== schema) {
    delete schema.allOf
    Object.assign(schema, remarked)
  }
  if (typeof schema.pattern === "string") schema.pattern = portable(schema.pattern)
  if (schema.type === "integer") schema.format = (schema.maximum ?? Infinity) > largestInt32 ? "int64" : "int32"
  if (schema.prefixItems?.length === 1 && schema.items === undefined) {
    schema.items = schema.prefixItems[0]
    delete schema.prefixItems
  }
  if (schema.type === "object" && schema.properties === undefined) schema.additionalProperties ??= true
  discriminate(schema, schemas)
}

const notSchemas = new Set(["example", "examples", "enum", "const", "default", "mapping"])

/** Tidies every object of a document that can be a schema; examples are skipped. */
export const tidyAll = (value: unknown, schemas: Schemas): void => {
  if (Array.isArray(value)) {
    for (const one of value) tidyAll(one, schemas)
    return
  }
  if (!isSchema(value)) return
  tidy(value, schemas)
  for (const [name, one] of Object.entries(value)) if (!notSchemas.has(name)) tidyAll(one, schemas)
}

/** Returns the component with an example, and with a description if it has one. */
export const completed = (name: string, schemas: Schemas): JsonSchema => {
  const written = schemas[name] ?? {}
  const { allOf, ...plain } = written
  const schema: JsonSchema = allOf?.length === 1 ? { ...plain, ...allOf[0] } : written
  const description = schema.description ?? schema.properties?.["message"]?.examples?.[0]
  return {
    ...schema,
    ...(description === undefined ? {} : { description: String(description) }),
    examples: [exampleOf({ $ref: name }, schemas)],
  }
}
