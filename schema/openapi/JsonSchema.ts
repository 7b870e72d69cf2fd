/** Completes the document's JSON Schemas: descriptions, examples and number formats. */
import { Predicate } from "effect"
import { examples as corrections } from "./Examples.ts"
import { lineMaximum, oneLine } from "../Fields.ts"
import { portable } from "./Pattern.ts"

export interface JsonSchema {
  $ref?: string
  examples?: ReadonlyArray<unknown>
  readonly const?: unknown
  readonly default?: unknown
  readonly enum?: ReadonlyArray<unknown>
  readonly anyOf?: ReadonlyArray<JsonSchema>
  allOf?: ReadonlyArray<JsonSchema>
  type?: string
  readonly properties?: Readonly<Record<string, JsonSchema>>
  additionalProperties?: unknown
  items?: unknown
  prefixItems?: ReadonlyArray<JsonSchema>
  readonly minimum?: number
  readonly maximum?: number
  maxLength?: number
  pattern?: string
  format?: string
  description?: string
}

export type Schemas = Readonly<Record<string, JsonSchema>>

const nameOf = ($ref: string) => $ref.split("/").at(-1) ?? ""

const isSchema = (value: unknown): value is JsonSchema => typeof value === "object" && value !== null

const corrected = (example: unknown, right: unknown): unknown =>
  right === undefined
    ? example
    : Predicate.isReadonlyObject(example) && Predicate.isReadonlyObject(right)
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

const largestInt32 = 2 ** 31 - 1

const isRemark = (schema: JsonSchema) =>
  Object.keys(schema).every((name) => name === "description" || name === "examples")

/** Puts description and example beside the schema they belong to instead of in an `allOf` with it. */
export const withRemark = (schema: JsonSchema): JsonSchema => {
  const { allOf = [], ...rest } = schema
  const remark = allOf.find(isRemark)
  const others = allOf.filter((part) => !isRemark(part))
  if (remark === undefined || others.length > 1) return schema
  return { ...rest, ...others[0], ...remark }
}

/** The text that the server writes unless it says otherwise, stated once. */
export const line: JsonSchema = {
  type: "string",
  pattern: portable(oneLine.source),
  maxLength: lineMaximum,
  description: "One line of text.",
  examples: ["Moss Hare"],
}

const isLine = ({ maxLength, pattern, type }: JsonSchema) =>
  type === line.type && pattern === line.pattern && maxLength === line.maxLength

const tidy = (schema: JsonSchema) => {
  const remarked = withRemark(schema)
  if (remarked !== schema) {
    delete schema.allOf
    Object.assign(schema, remarked)
  }
  if (typeof schema.pattern === "string") schema.pattern = portable(schema.pattern)
  if (isLine(schema)) {
    delete schema.type
    delete schema.pattern
    delete schema.maxLength
    schema.$ref = "#/components/schemas/Line"
  }
  if (schema.type === "integer") schema.format = (schema.maximum ?? Infinity) > largestInt32 ? "int64" : "int32"
  if (schema.prefixItems?.length === 1 && schema.items === undefined) {
    schema.items = schema.prefixItems[0]
    delete schema.prefixItems
  }
  if (schema.type === "object" && schema.properties === undefined) schema.additionalProperties ??= true
}

const notSchemas = new Set(["example", "examples", "enum", "const", "default"])

/** Tidies every object of a document that can be a schema; examples are skipped. */
export const tidyAll = (value: unknown): void => {
  if (Array.isArray(value)) {
    for (const item of value) tidyAll(item)
    return
  }
  if (!isSchema(value)) return
  tidy(value)
  for (const [name, member] of Object.entries(value)) if (!notSchemas.has(name)) tidyAll(member)
}

/** Removes the examples of members that the example of the whole repeats. */
const withoutPartExamples = (schema: JsonSchema): JsonSchema =>
  schema.properties === undefined
    ? schema
    : {
        ...schema,
        properties: Object.fromEntries(
          Object.entries(schema.properties).map(([name, { examples: _, ...part }]) => [
            name,
            withoutPartExamples(part),
          ]),
        ),
      }

/** Returns the component with a description if it has one, and with an example unless its parts compose the same. */
export const completed = (name: string, schemas: Schemas): JsonSchema => {
  const written = schemas[name] ?? {}
  const { allOf, ...plain } = written
  const { examples: _, ...schema }: JsonSchema = allOf?.length === 1 ? { ...plain, ...allOf[0] } : written
  const [fault] = String(schema.properties?.["message"]?.examples?.[0] ?? "").split(/(?<=\.) /u)
  const description = schema.description ?? (fault === "" ? undefined : fault)
  const described = { ...schema, ...(description === undefined ? {} : { description }) }
  const example = exampleOf({ $ref: name }, schemas)
  const hasParts = schema.properties !== undefined || schema.anyOf !== undefined
  return hasParts && JSON.stringify(exampleOf(schema, schemas)) === JSON.stringify(example)
    ? described
    : { ...withoutPartExamples(described), examples: [example] }
}
