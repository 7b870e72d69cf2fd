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
