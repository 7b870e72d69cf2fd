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

interface Called {
  readonly isError: boolean
  // biome-ignore lint: the tests look into results freely
  readonly structured: Record<string, never>
  readonly text: string
}

/** The most tokens of an answer, of four characters each, in each of its two halves. */
const tokens: Readonly<Record<string, number>> = { buy_kit: 1_300, verify_witness: 1_000 }

/** One call; the client checks structured content against the output schema it was given by `tools/list`. */
export const call = ({ client }: Connected, name: string, args: Record<string, unknown> = {}) =>
  Effect.promise(async (): Promise<Called> => {
    const result = CallToolResultSchema.parse(await client.callTool({ name, arguments: args }))
    const [first] = result.content
    const structured = JSON.stringify(result.structuredContent ?? {})
    const text = first?.type === "text" ? first.text : ""
    for (const half of [structured, text])
      if (half.length / 4 > (tokens[name] ?? Infinity)) throw new Error(`${name} answers ${half.length / 4} tokens.`)
    return { isError: result.isError === true, structured: JSON.parse(structured), text }
  })
