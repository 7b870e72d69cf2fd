/** `mcp`: an MCP server of this machine, which buys with its owner's wallet and limits. */
import { Effect } from "effect"
import { command } from "../Define.ts"
import { paying } from "../Flags.ts"

const { key: _, ...flags } = paying

export const mcp = command("mcp", {
  description:
    "Serve these purchases to an agent on this machine, as an MCP server over stdin and stdout. It signs with your wallet within --max and --max-per-day. A repeated call resumes or returns its purchase and pays nothing",
  examples: {
    "spirit-altar mcp --url https://altar.example --wallet key.txt --max 0.05 --max-per-day 1":
      "The command that a host starts",
  },
  flags,
  run: (given) =>
    Effect.flatMap(
      Effect.promise(() => import("./Server.ts")),
      ({ serve }) => serve(given),
    ),
})
