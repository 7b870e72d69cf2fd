/** `serve`: the production server, configured by its environment alone. */
import { Effect } from "effect"
import { Command } from "effect/cli"
import { variablesHelp } from "../Variables.ts"

export const serve = Command.make("serve", {}, () =>
  Effect.flatMap(
    Effect.promise(() => import("./Serving.ts")),
    ({ serving }) => serving,
  ),
).pipe(
  Command.withDescription(`Run the production server. Every value comes from the environment:\n${variablesHelp()}`),
  Command.withShortDescription("Run the production server, configured by its environment"),
  Command.withExamples([
    {
      command: "DATABASE_URL=postgres://… PAY_TO=0x… RPC_URL=https://… RELAYER_KEY=0x… npm run serve",
      description: "Serve with our own settlement",
    },
    {
      command: "DATABASE_URL=postgres://… npm run serve",
      description: "Serve the free routes; paid ones answer 503 payments_unavailable",
    },
  ]),
)
