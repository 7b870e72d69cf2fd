/** `serve`: the production server, configured by its environment alone. */
import { Effect } from "effect"
import { Command, Flag } from "effect/cli"
import { variablesHelp } from "../Variables.ts"
import { common } from "./Flags.ts"

const check = Flag.Boolean("check").pipe(
  Flag.withDescription(
    "Serve nothing: ask database, chain, relayer and facilitator once, print what they say, and end; exit code 1 when one is not as it should be",
  ),
  Flag.withDefault(false),
)

export const serve = Command.make(
  "serve",
  { check, json: common.json },
  Effect.fnUntraced(function* (flags) {
    if (flags.check) {
      const { checking } = yield* Effect.promise(() => import("./Checking.ts"))
      return yield* checking(flags.json)
    }
    const { serving } = yield* Effect.promise(() => import("./Serving.ts"))
    return yield* serving
  }),
).pipe(
  Command.withDescription(`Run the production server. Every value comes from the environment:\n${variablesHelp()}`),
  Command.withShortDescription("Run the production server, configured by its environment"),
  Command.withExamples([
    {
      command: "DATABASE_URL=postgres://… PAY_TO=0x… RPC_URL=https://… RELAYER_KEY=0x… npm run serve",
      description: "Serve with our own settlement",
    },
    { command: "npm run serve -- --check", description: "Say whether this environment would do, and what it lacks" },
    {
      command: "DATABASE_URL=postgres://… npm run serve",
      description: "Serve the free routes; paid ones answer 503 payments_unavailable",
    },
  ]),
)
