/** JSON Schemas as a model reads them with every conversation: what decides, in few words; the contract has the rest. */
import { Schema } from "effect"
import { portable } from "../../schema/openapi/Pattern.ts"

const isObject = (json: Schema.Json | undefined): json is Schema.JsonObject =>
  typeof json === "object" && json !== null && !Array.isArray(json)

const listOf = (json: Schema.Json | undefined): ReadonlyArray<Schema.Json> => (Array.isArray(json) ? json : [])

/** What is kept of every schema, and what an argument is told beyond it. */
const structure = ["type", "required", "const"] as const
const rules = [...structure, "enum", "minLength", "maxLength", "additionalProperties"] as const

/** A list of names that answers need not repeat. */
const longest = 8

const named = (json: Schema.JsonObject, names: ReadonlyArray<string>) =>
  Object.fromEntries(Object.entries(json).filter(([name]) => names.includes(name)))

/** `string or null` in one word for each. */
const united = (choices: ReadonlyArray<Schema.Json>): Schema.JsonObject => {
  const plain = choices.flatMap((one) => (isObject(one) && Object.keys(one).join("") === "type" ? [one["type"]] : []))
  return plain.length === choices.length ? { type: plain.flat().flatMap((type) => type ?? []) } : { anyOf: choices }
}

const within = (json: Schema.JsonObject, each: (part: Schema.Json) => Schema.Json): Schema.JsonObject => ({
  ...(isObject(json["properties"])
    ? { properties: Object.fromEntries(Object.entries(json["properties"]).map(([name, one]) => [name, each(one)])) }
    : {}),
  ...(json["items"] === undefined ? {} : { items: each(json["items"]) }),
  ...(json["prefixItems"] === undefined ? {} : { items: each(listOf(json["prefixItems"])[0] ?? {}) }),
  ...(json["anyOf"] === undefined ? {} : united(listOf(json["anyOf"]).map(each))),
})

/** Of an answer: which members there are and of what type. */
const answered = (json: Schema.Json): Schema.Json =>
  isObject(json)
    ? {
        ...named(json, structure),
        ...(listOf(json["enum"]).length > 0 && listOf(json["enum"]).length <= longest ? named(json, ["enum"]) : {}),
        ...within(json, answered),
      }
    : json

/** Of an argument: its rules, and the one sentence that is said of it in its place. */
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

/** Self-contained: clients that hand schemas to a model often drop `$defs`. */
const documentOf = (schema: Schema.Top, onExcessProperty: "error" | "ignore"): Schema.Json =>
  Schema.decodeUnknownSync(Schema.Json)(
    Schema.toJsonSchemaDocument(schema, { onExcessProperty, referencePolicy: () => undefined }).schema,
  )

const asObject = (json: Schema.Json): Schema.JsonObject => ({ ...(isObject(json) ? json : {}), type: "object" })

export const inputSchema = (schema: Schema.Top): Schema.JsonObject => asObject(asked(documentOf(schema, "error")))

export const outputSchema = (schema: Schema.Top): Schema.JsonObject => asObject(answered(documentOf(schema, "ignore")))
