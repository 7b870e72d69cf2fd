/** `sandbox`: a real database, a real chain and play money, ready in seconds. */
import { Effect } from "effect"
import { Command, Flag } from "effect/cli"
import { base, baseSepolia } from "../../schema/payments/Usdc.ts"
import { helpOf, rehearsing } from "../server/config/Table.ts"

const network = Flag.Literals("network", [baseSepolia, base]).pipe(
  Flag.withDescription(`Network id to rehearse with; on ${base} use throw-away keys only`),
  Flag.withDefault(baseSepolia),
)

const fresh = Flag.Boolean("fresh").pipe(
  Flag.withDescription(
    "Start empty, in a new folder inside DATA_DIR that is removed when it stops: for a second sandbox beside another, or to leave yours as it is",
  ),
  Flag.withDefault(false),
)

export const sandbox = Command.make("sandbox", { network, fresh }, (flags) =>
  Effect.flatMap(
    Effect.promise(() => import("./Sandboxing.ts")),
    ({ sandboxing }) => sandboxing(flags),
  ),
).pipe(
  Command.withDescription(
    `Run everything on this machine with play money. Optional environment:\n${helpOf(rehearsing)}`,
  ),
  Command.withShortDescription("Run everything on this machine with play money"),
  Command.withExamples([
    { command: "npm start", description: "Start on http://127.0.0.1:3000" },
    {
      command: `PORT=4000 npm start -- --fresh --network ${base}`,
      description: "Rehearse the production wire format, beside the first",
    },
  ]),
)
