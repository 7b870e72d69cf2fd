/** The official MCP client of 2026, one connection for each scope; `fetch` may lead it elsewhere. */
import { Client, StreamableHTTPClientTransport, type VersionNegotiationOptions } from "@modelcontextprotocol/client"
import { Effect } from "effect"

/** `auto` asks `server/discover` first, a pin never falls back, `legacy` begins with a handshake. */
export type Mode = NonNullable<VersionNegotiationOptions["mode"]>

export const connect = (url: string, mode: Mode, send: typeof fetch = fetch) =>
  Effect.acquireRelease(
    Effect.tryPromise(async () => {
      const transport = new StreamableHTTPClientTransport(new URL(url), { fetch: send })
      const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode } })
      await client.connect(transport)
      return { client, transport }
    }),
    ({ client }) => Effect.promise(() => client.close()),
  )
