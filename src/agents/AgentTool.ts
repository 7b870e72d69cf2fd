/** A tool as a value: its entry in `tools/list` and its call. */
import { Effect, Schema } from "effect"
import { RevealBroken } from "../../schema/altar/Reveal.ts"
import { issuesOf, listed } from "../platform/Issues.ts"
import { inputSchema, outputSchema } from "./ToolSchema.ts"

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
