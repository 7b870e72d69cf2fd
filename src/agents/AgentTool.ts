/** A tool as a value: its entry in `tools/list` and its call. */
import { Effect, Record, Schema } from "effect"
import { BadRequest, type Issue } from "../../schema/Errors.ts"
import { type Form, formOf, remarkOf } from "../../schema/Form.ts"
import type { Refusal } from "../../schema/Refusal.ts"
import { portable } from "../../schema/openapi/Pattern.ts"
import { issuesOf, listed, shown } from "../platform/Issues.ts"
import { isJsonObject, jsonOf } from "../../schema/Json.ts"

/** Merges `string or null` into one schema with two types. */
const united = (choices: ReadonlyArray<Schema.JsonObject>) =>
  choices.every((choice) => Object.keys(choice).join("") === "type")
    ? { type: choices.flatMap(({ type = [] }) => type) }
    : { anyOf: choices }

/**
 * A schema without references, because clients that pass schemas to a model often drop `$defs`, and with `properties` in
 * every object, because two large vendors demand them. `own` names the further keywords of each part.
 */
const trimmed = (form: Form, own: (form: Form) => object): Schema.JsonObject => {
  const { anyOf, items, properties, type } = form
  const each = (part: Form) => trimmed(part, own)
  const schema = {
    type,
    ...own(form),
    properties: (type === "object" || properties) && Record.map(properties ?? {}, each),
    items: items && each(items),
    ...(anyOf && united(anyOf.map(each))),
  }
  const json = jsonOf(schema)
  return isJsonObject(json) ? json : {}
}

/** The schema of arguments, as small and plain as hosts need it. */
export const inputForm = (form: Form) =>
  trimmed(form, (part) => ({
    required: part.required,
    enum: part.enum,
    minLength: part.minLength,
    maxLength: part.maxLength,
    additionalProperties: part.additionalProperties,
    pattern: part.pattern && portable(part.pattern),
    description: remarkOf(part),
  }))

/** Names more than eight values of no member, and none that has to be present: the contract does. */
const outputSchema = (schema: Schema.Top) =>
  trimmed(formOf(schema), (form) => ({ enum: (form.enum?.length ?? 0) <= 8 ? form.enum : undefined }))

/** Names of arguments that the tool does not take. Many hosts add some of their own. */
const ignored = { type: "array", items: { type: "string" } }

/** Maximum number of ignored names in a result. */
const ignoredMaximum = 20

/** Refuses arguments, in words that a model can act on. */
export const badArguments = (what: string, issues: ReadonlyArray<Issue>) =>
  new BadRequest({
    message: `The arguments of ${what} do not fit: ${listed(issues)}. Correct them and call the tool again. Nothing was charged.`,
    issues,
  })

/** A refusal becomes a result of the tool; any other failure is a fault of the server. */
type Failure = Refusal | Error

interface ToolDefinition<In, Out> {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly input: Schema.Codec<In, Schema.Json>
  readonly output: Schema.Codec<Out, Schema.Json>
  /** `ignored` names the arguments that the tool does not take. */
  readonly run: (input: In, ignored: ReadonlyArray<string>) => Effect.Effect<Out, Failure>
}

export const agentTool = <In, Out extends object>({ input, output, run, ...described }: ToolDefinition<In, Out>) => {
  const decode = Schema.decodeUnknownEffect(input, { onExcessProperty: "error", errors: "all" })
  const form = formOf(input, "error")
  const { properties = {} } = form
  const answerSchema = outputSchema(output)

  /** Some hosts send "" or null for what they leave out: absent, where the schema refuses it. */
  const decodeGiven = (given: Readonly<Record<string, Schema.Json>>) =>
    Effect.catch(decode(given), (error) => {
      const refused = new Set(issuesOf(error).map(({ path }) => path))
      return decode(Record.filter(given, (value, name) => !((value === "" || value === null) && refused.has(name))))
    })

  return {
    definition: {
      ...described,
      inputSchema: inputForm(form),
      outputSchema: { ...answerSchema, properties: { ...Object(answerSchema["properties"]), ignored } },
      // Tools change nothing, here or elsewhere, and repeating a call is harmless.
      annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    },
    call: (args: Readonly<Record<string, Schema.Json>>): Effect.Effect<object, Failure> => {
      const isTaken = (name: string) => Object.hasOwn(properties, name)
      const others = Object.keys(args).filter((name) => !isTaken(name))
      return decodeGiven(Record.filter(args, (_, name) => isTaken(name))).pipe(
        Effect.mapError((error) => badArguments(described.name, issuesOf(error))),
        Effect.flatMap((arguments_) => run(arguments_, others)),
        Effect.map((result) =>
          others.length === 0
            ? result
            : { ...result, ignored: others.slice(0, ignoredMaximum).map((name) => shown(name, 100)) },
        ),
      )
    },
  }
}

export type AgentTool = ReturnType<typeof agentTool>
