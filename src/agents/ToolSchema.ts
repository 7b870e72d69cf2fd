/** Shortened JSON Schemas of tools, because a model reads them with every conversation; the contract has the rest. */
import type { Schema } from "effect"
import { type Form, formOf, remarkOf } from "../../schema/Form.ts"
import { portable } from "../../schema/openapi/Pattern.ts"

/** Longer lists of names are omitted from answers. */
const longest = 8

/** Without members that are undefined, as JSON is. */
const jsonOf = (form: object): Schema.JsonObject => JSON.parse(JSON.stringify(form))

/** Merges `string or null` into one schema with two types. */
const united = (choices: ReadonlyArray<Schema.JsonObject>) =>
  choices.every((one) => Object.keys(one).join("") === "type")
    ? { type: choices.flatMap(({ type = [] }) => type) }
    : { anyOf: choices }

/** Clients of two large vendors refuse a server whose schemas of objects have no `properties`. */
const within = ({ anyOf, items, prefixItems, properties, type }: Form, each: (part: Form) => Schema.JsonObject) => {
  const item = prefixItems?.[0] ?? items
  return {
    ...(type === "object" || properties !== undefined
      ? {
          properties: Object.fromEntries(Object.entries(properties ?? {}).map(([name, part]) => [name, each(part)])),
        }
      : {}),
    ...(item === undefined ? {} : { items: each(item) }),
    ...(anyOf === undefined ? {} : united(anyOf.map(each))),
  }
}

const answered = (form: Form): Schema.JsonObject =>
  jsonOf({
    type: form.type,
    const: form.const,
    enum: (form.enum?.length ?? 0) <= longest ? form.enum : undefined,
    ...within(form, answered),
  })

const asked = (form: Form): Schema.JsonObject =>
  jsonOf({
    type: form.type,
    required: form.required,
    const: form.const,
    enum: form.enum,
    minLength: form.minLength,
    maxLength: form.maxLength,
    additionalProperties: form.additionalProperties,
    pattern: form.pattern === undefined ? undefined : portable(form.pattern),
    description: remarkOf(form),
    ...within(form, asked),
  })

/** Self-contained, because clients that pass schemas to a model often drop `$defs`. */
export const inputSchema = (schema: Schema.Top): Schema.JsonObject => ({
  properties: {},
  ...asked(formOf(schema, "error")),
  type: "object",
})

/** Members of its members may be absent by this schema; the contract says which are. */
export const outputSchema = (schema: Schema.Top): Schema.JsonObject => {
  const form = formOf(schema)
  return { properties: {}, ...answered(form), ...jsonOf({ required: form.required }), type: "object" }
}
