/** The official MCP client over streamable HTTP, one connection for each scope; `fetch` may lead it elsewhere. */
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import { CallToolResultSchema } from "@modelcontextprotocol/sdk/types.js"
import { Effect } from "effect"

export const connect = (url: string, send: typeof fetch = fetch) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const transport = new StreamableHTTPClientTransport(new URL(url), { fetch: send })
      const client = new Client({ name: "test", version: "1" })
      // The SDK's own types do not allow for exactOptionalPropertyTypes.
      await client.connect(transport as Parameters<Client["connect"]>[0])
      return { client, transport }
    }),
    ({ client }) => Effect.promise(() => client.close()),
  )

export type Connected = Effect.Success<ReturnType<typeof connect>>

export interface Called {
  readonly isError: boolean
  // biome-ignore lint: the tests look into results freely
  readonly structured: Record<string, never>
  readonly text: string
}

/** One call; the client checks structured content against the output schema it was given by `tools/list`. */
export const call = ({ client }: Connected, name: string, args: Record<string, unknown> = {}) =>
  Effect.promise(async (): Promise<Called> => {
    const result = CallToolResultSchema.parse(await client.callTool({ name, arguments: args }))
    const [first] = result.content
    return {
      isError: result.isError === true,
      structured: JSON.parse(JSON.stringify(result.structuredContent ?? {})),
      text: first?.type === "text" ? first.text : "",
    }
  })
