/** A tool as a value: what `tools/list` says of it, and what happens when it is called. */
import { Effect, Schema } from "effect"
import { RevealBroken } from "../../schema/altar/Reveal.ts"
import { issuesOf } from "../platform/Issues.ts"
import { inputSchema, outputSchema } from "./ToolSchema.ts"

/** A refusal a model can act on: a code, a sentence, and where the arguments are wrong. */
export class ToolRefusal extends Schema.TaggedError<ToolRefusal>()("ToolRefusal", {
  code: Schema.String,
  message: Schema.String,
  issues: Schema.Array(Schema.Struct({ path: Schema.String, message: Schema.String })),
}) {}

export interface AgentTool {
  readonly definition: Schema.JsonObject & { readonly name: string }
  /** A refusal is the model's to mend, any other failure is a fault of ours. */
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

/** Nothing here changes anything, here or elsewhere, and asking twice is asking once. */
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
          const where = issues.map(({ message, path }) => (path === "" ? message : `${path}: ${message}`)).join("; ")
          return new ToolRefusal({
            code: "bad_arguments",
            message: `The arguments of ${name} do not fit: ${where}`,
            issues,
          })
        }),
        Effect.flatMap((input): Effect.Effect<Out, ToolRefusal | Error> => tool.run(input)),
        // No fault of the tool: what is stored is not what was sealed, and a model has to be told.
        Effect.catchDefect((defect) =>
          defect instanceof RevealBroken
            ? Effect.fail(new ToolRefusal({ code: defect.code, message: defect.message, issues: [] }))
            : Effect.die(defect),
        ),
        Effect.map((output): object => Object(output)),
      ),
  }
}
