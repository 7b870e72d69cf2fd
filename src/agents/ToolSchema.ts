/** Shortened JSON Schemas of tools, because a model reads them with every conversation; the contract has the rest. */
import { Schema } from "effect"
import { portable } from "../../schema/openapi/Pattern.ts"

const isObject = (json: Schema.Json | undefined): json is Schema.JsonObject =>
  typeof json === "object" && json !== null && !Array.isArray(json)

const listOf = (json: Schema.Json | undefined): ReadonlyArray<Schema.Json> => (Array.isArray(json) ? json : [])

/** Keywords kept of every schema, and those added for arguments. */
const structure = ["type", "required", "const"] as const
const rules = [...structure, "enum", "minLength", "maxLength", "additionalProperties"] as const

/** Longer lists of names are omitted from answers. */
const longest = 8

const named = (json: Schema.JsonObject, names: ReadonlyArray<string>) =>
  Object.fromEntries(Object.entries(json).filter(([name]) => names.includes(name)))

/** Merges `string or null` into one schema with two types. */
const united = (choices: ReadonlyArray<Schema.Json>): Schema.JsonObject => {
  const plain = choices.flatMap((one) => (isObject(one) && Object.keys(one).join("") === "type" ? [one["type"]] : []))
  return plain.length === choices.length ? { type: plain.flat().flatMap((type) => type ?? []) } : { anyOf: choices }
}

const isOfObjects = ({ type }: Schema.JsonObject) => type === "object" || listOf(type).includes("object")

const propertiesOf = (json: Schema.JsonObject): Schema.JsonObject =>
  isObject(json["properties"]) ? json["properties"] : {}

/** Clients of two large vendors refuse a server whose schemas of objects have no `properties`. */
const within = (json: Schema.JsonObject, each: (part: Schema.Json) => Schema.Json): Schema.JsonObject => ({
  ...(isOfObjects(json) || isObject(json["properties"])
    ? { properties: Object.fromEntries(Object.entries(propertiesOf(json)).map(([name, one]) => [name, each(one)])) }
    : {}),
  ...(json["items"] === undefined ? {} : { items: each(json["items"]) }),
  ...(json["prefixItems"] === undefined ? {} : { items: each(listOf(json["prefixItems"])[0] ?? {}) }),
  ...(json["anyOf"] === undefined ? {} : united(listOf(json["anyOf"]).map(each))),
})

const answered = (json: Schema.Json): Schema.Json =>
  isObject(json)
    ? {
        ...named(json, structure),
        ...(listOf(json["enum"]).length > 0 && listOf(json["enum"]).length <= longest ? named(json, ["enum"]) : {}),
        ...within(json, answered),
      }
    : json

const asked = (json: Schema.Json): Schema.Json => {
  if (!isObject(json)) return json
  const remark = listOf(json["allOf"]).find((one) => isObject(one) && "description" in one)
  const { description } = isObject(remark) ? remark : json
  const { pattern } = json
  return {
    ...named(json, rules),
    ...(typeof pattern === "string" ? { pattern: portable(pattern) } : {}),
    ...(description === undefined ? {} : { description }),
    ...within(json, asked),
  }
}

/** Self-contained, because clients that pass schemas to a model often drop `$defs`. */
const documentOf = (schema: Schema.Top, onExcessProperty: "error" | "ignore"): Schema.Json =>
  Schema.decodeUnknownSync(Schema.Json)(
    Schema.toJsonSchemaDocument(schema, { onExcessProperty, referencePolicy: () => undefined }).schema,
  )

const asObject = (json: Schema.Json): Schema.JsonObject => ({
  properties: {},
  ...(isObject(json) ? json : {}),
  type: "object",
})

export const inputSchema = (schema: Schema.Top): Schema.JsonObject => asObject(asked(documentOf(schema, "error")))

export const outputSchema = (schema: Schema.Top): Schema.JsonObject => asObject(answered(documentOf(schema, "ignore")))
