/** A tool as a value: its entry in `tools/list` and its call. */
import { Effect, Schema } from "effect"
import { RevealBroken } from "../../schema/altar/Reveal.ts"
import { issuesOf, listed } from "../platform/Issues.ts"
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

/**
 * A schema without references, because clients that pass schemas to a model often drop `$defs`. Two large vendors refuse
 * schemas of objects without `properties`.
 */
const trimmed = (form: Form, own: (form: Form) => object): Schema.JsonObject => {
  const { anyOf, items, prefixItems, properties, type } = form
  const item = prefixItems?.[0] ?? items
  const each = (part: Form) => trimmed(part, own)
  return jsonOf({
    type,
    const: form.const,
    ...own(form),
    properties:
      type === "object" || properties !== undefined
        ? Object.fromEntries(Object.entries(properties ?? {}).map(([name, part]) => [name, each(part)]))
        : undefined,
    items: item === undefined ? undefined : each(item),
    ...(anyOf === undefined ? {} : united(anyOf.map(each))),
  })
}

const objectOf = (form: Form, own: (form: Form) => object) => ({
  properties: {},
  ...trimmed(form, own),
  ...jsonOf({ required: form.required }),
  type: "object",
})

export const inputSchema = (schema: Schema.Top): Schema.JsonObject =>
  objectOf(formOf(schema, "error"), (form) => ({
    required: form.required,
    enum: form.enum,
    minLength: form.minLength,
    maxLength: form.maxLength,
    additionalProperties: form.additionalProperties,
    pattern: form.pattern === undefined ? undefined : portable(form.pattern),
    description: remarkOf(form),
  }))

/** Members of its members may be absent by this schema; the contract says which are. */
export const outputSchema = (schema: Schema.Top): Schema.JsonObject =>
  objectOf(formOf(schema), (form) => ({ enum: (form.enum?.length ?? 0) <= longest ? form.enum : undefined }))

/** A refusal that a model can act on: a code, a sentence, and the faulty arguments. */
export class ToolRefusal extends Schema.TaggedError<ToolRefusal>()("ToolRefusal", {
  code: Schema.String,
  message: Schema.String,
  issues: Schema.Array(Schema.Struct({ path: Schema.String, message: Schema.String })),
}) {}

export interface AgentTool {
  readonly definition: Schema.JsonObject & { readonly name: string }
  /** Fails with a refusal that the model can fix; any other failure is a fault of the server. */
  readonly call: (args: Schema.Json) => Effect.Effect<object, ToolRefusal | Error>
}

export interface ToolDefinition<In, Out, E> {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly input: Schema.Codec<In, Schema.Json>
  readonly output: Schema.Codec<Out, Schema.Json>
  readonly run: (input: In) => Effect.Effect<Out, E>
}

/** Tools change nothing, here or elsewhere, and repeating a call is harmless. */
const harmless = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false }

export const agentTool = <In, Out, E extends Error>(tool: ToolDefinition<In, Out, E>): AgentTool => {
  const decode = Schema.decodeUnknownEffect(tool.input, { onExcessProperty: "error", errors: "all" })
  const { description, name, title } = tool
  return {
    definition: {
      name,
      title,
      description,
      inputSchema: inputSchema(tool.input),
      outputSchema: outputSchema(tool.output),
      annotations: harmless,
    },
    call: (args) =>
      decode(args).pipe(
        Effect.mapError((error) => {
          const issues = issuesOf(error)
          return new ToolRefusal({
            code: "bad_arguments",
            message: `The arguments of ${name} do not fit: ${listed(issues)}. Correct them and call the tool again. Nothing was charged.`,
            issues,
          })
        }),
        Effect.flatMap((input): Effect.Effect<Out, ToolRefusal | Error> => tool.run(input)),
        // Stored words that do not match their commitment are no fault of the tool, and the model must know.
        Effect.catchDefect((defect) =>
          defect instanceof RevealBroken
            ? Effect.fail(new ToolRefusal({ code: defect.code, message: defect.message, issues: [] }))
            : Effect.die(defect),
        ),
        Effect.map((output): object => Object(output)),
      ),
  }
}
