/** MCP 2025-06-18 without sessions: any server can answer any request. */
// Not Effect's McpServer: before protocol 2026-07-28 it keeps a table of sessions that strangers can fill and other
// processes do not see. Not the SDK's transport: it would add a second HTTP and schema stack.
import { randomUUID } from "node:crypto"
import { Cause, Context, Effect, Layer, Schema } from "effect"
import * as DatabaseWatch from "../platform/DatabaseWatch.ts"
import { interfaceVersion } from "../../schema/Api.ts"
import { PublicUrl } from "../platform/PublicUrl.ts"
import * as Sql from "../platform/Sql.ts"
import type { ToolRefusal } from "./AgentTool.ts"
import { instructions } from "./Instructions.ts"
import { codes, failed, type Reply, type Request, succeeded } from "./JsonRpc.ts"
import { Tools } from "./Tools.ts"
import * as Words from "./Words.ts"

export const protocolVersion = "2025-06-18"

const Initialize = Schema.Struct({ protocolVersion: Schema.String })
const List = Schema.Struct({ cursor: Schema.optionalKey(Schema.Never) })
const Call = Schema.Struct({
  name: Schema.String,
  arguments: Schema.optionalKey(Schema.Record(Schema.String, Schema.Json)),
})

const isInitialize = Schema.is(Initialize)
const isList = Schema.is(List)
const isCall = Schema.is(Call)

const content = (value: object) => [{ type: "text", text: JSON.stringify(value) }]

/** Input that a model can fix is a result, because its client may swallow a protocol error. */
const refused = ({ code, issues, message }: ToolRefusal) => ({
  isError: true,
  content: content({ ok: false, code, message, ...(issues.length === 0 ? {} : { issues }) }),
})

export class Mcp extends Context.Service<Mcp, { readonly answer: (request: Request) => Effect.Effect<Reply> }>()(
  "spirit-altar/agents/Mcp",
) {
  static readonly layer = Layer.effect(
    Mcp,
    Effect.gen(function* () {
      const tools = yield* Tools
      const publicUrl = yield* PublicUrl

      const initialized = {
        protocolVersion,
        capabilities: { tools: { listChanged: false } },
        serverInfo: { name: "spirit-altar", title: Words.name, version: interfaceVersion },
        instructions: instructions(publicUrl),
      }
      const listed = { tools: [...tools.values()].map(({ definition }) => definition) }

      const invalid = ({ id }: Request, message: string, data?: object) =>
        Effect.succeed(failed(id, codes.params, message, data))

      const call = Effect.fnUntraced(function* (request: Request, name: string, args: Schema.JsonObject) {
        const tool = tools.get(name)
        if (tool === undefined) {
          return yield* invalid(request, `Unknown tool: ${name.slice(0, 100)}`, { tools: [...tools.keys()] })
        }
        return yield* tool.call(args).pipe(
          Effect.map((result) => ({ content: content(result), structuredContent: result, isError: false })),
          Effect.catchTag("ToolRefusal", (refusal) => Effect.succeed(refused(refusal))),
          Effect.map((result) => succeeded(request.id, result)),
          Effect.withSpan("Mcp.call", { attributes: { tool: name } }),
        )
      })

      const route = (request: Request) => {
        const params = request.params ?? {}
        switch (request.method) {
          case "initialize":
            return isInitialize(params)
              ? Effect.succeed(succeeded(request.id, initialized))
              : invalid(request, "initialize needs params.protocolVersion")
          case "ping":
            return Effect.succeed(succeeded(request.id, {}))
          case "tools/list":
            return isList(params)
              ? Effect.succeed(succeeded(request.id, listed))
              : invalid(request, "Unknown cursor: all tools are on one page")
          case "tools/call":
            return isCall(params)
              ? call(request, params.name, params.arguments ?? {})
              : invalid(request, "tools/call needs params.name, a string, and params.arguments, an object")
          default:
            return Effect.succeed(
              failed(request.id, codes.method, `Unknown method: ${request.method.slice(0, 100)}`, {
                methods: ["initialize", "ping", "tools/list", "tools/call"],
              }),
            )
        }
      }

      const fault = (request: Request, cause: Cause.Cause<unknown>) =>
        Effect.suspend(() => {
          const requestId = randomUUID()
          return Sql.isAway(cause)
            ? Effect.as(
                DatabaseWatch.failed("A tool failed")(cause),
                failed(request.id, codes.internal, "The server cannot read at the moment; try again in 2 seconds.", {
                  requestId,
                  retryAfter: 2,
                }),
              )
            : Effect.as(
                DatabaseWatch.failed("A tool failed", { tool: requestId })(cause),
                failed(request.id, codes.internal, "The server failed, nothing was changed; try again.", { requestId }),
              )
        })

      return Mcp.of({
        answer: (request) =>
          Effect.catchCauseIf(
            Effect.orDie(route(request)),
            (cause) => !Cause.hasInterruptsOnly(cause),
            (cause) => fault(request, cause),
          ),
      })
    }),
  )
}
