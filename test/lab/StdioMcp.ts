/** The official MCP client with a server of its own over stdio, as hosts of agents start it. */
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js"
import { CallToolResultSchema } from "@modelcontextprotocol/sdk/types.js"
import { Effect } from "effect"
import { main } from "./Process.ts"
import type { Terminal } from "./Terminal.ts"

export type StdioMcp = Effect.Success<ReturnType<typeof stdioMcp>>

/** A server in the terminal's folder, ended with its test. */
export const stdioMcp = (
  { folder, own }: Terminal,
  args: ReadonlyArray<string> = [],
  env: Readonly<Record<string, string>> = {},
) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const transport = new StdioClientTransport({
        command: process.execPath,
        args: [main, "mcp", ...args],
        cwd: folder,
        env: { PATH: process.env["PATH"] ?? "", ...own, ...env },
        stderr: "pipe",
      })
      let stderr = ""
      const heard = Promise.withResolvers<void>()
      transport.stderr?.on("data", (data) => {
        stderr += String(data)
        if (stderr.includes("HELD")) heard.resolve()
      })
      const client = new Client({ name: "test", version: "1" })
      await client.connect(transport)
      const call = async (name: string, given: Record<string, unknown> = {}) => {
        const result = CallToolResultSchema.parse(await client.callTool({ name, arguments: given }))
        const [first] = result.content
        return { isError: result.isError === true, answer: JSON.parse(first?.type === "text" ? first.text : "{}") }
      }
      return {
        client,
        call,
        stderr: () => stderr,
        /** Resolves when a signed request is held on its way out. */
        held: heard.promise,
        kill: () => void process.kill(transport.pid ?? 0, "SIGKILL"),
      }
    }),
    ({ client }) => Effect.promise(() => client.close()),
  )
