/** `sandbox`: a real database, a real chain and play money, ready in seconds. */
import { Effect } from "effect"
import { Command, Flag } from "effect/cli"
import { variablesHelp } from "../Variables.ts"

const network = Flag.Literals("network", ["eip155:84532", "eip155:8453"]).pipe(
  Flag.withDescription("Network id to rehearse with; on eip155:8453 use throw-away keys only"),
  Flag.withDefault("eip155:84532" as const),
)

const fresh = Flag.Boolean("fresh").pipe(
  Flag.withDescription(
    "Start empty, in a new folder inside DATA_DIR that is removed when it stops: for a second sandbox beside another, or to leave yours as it is",
  ),
  Flag.withDefault(false),
)

const help = variablesHelp(["HOST", "PORT", "PUBLIC_URL", "DATABASE_URL", "DATA_DIR", "LOG_LEVEL"])

export const sandbox = Command.make("sandbox", { network, fresh }, (flags) =>
  Effect.flatMap(
    Effect.promise(() => import("./Sandboxing.ts")),
    ({ sandboxing }) => sandboxing(flags),
  ),
).pipe(
  Command.withDescription(`Run everything on this machine with play money. Optional environment:\n${help}`),
  Command.withShortDescription("Run everything on this machine with play money"),
  Command.withExamples([
    { command: "npm start", description: "Start on http://127.0.0.1:3000" },
    {
      command: "PORT=4000 npm start -- --fresh --network eip155:8453",
      description: "Rehearse the production wire format, beside the first",
    },
  ]),
)
