/** `serve`: the production server, configured by its environment alone. */
import cluster from "node:cluster"
import { Effect, Schema } from "effect"
import { Command, Flag } from "effect/cli"
import { helpOf, serving as variables } from "../server/config/Table.ts"
import { common } from "./Flags.ts"

const check = Flag.Boolean("check").pipe(
  Flag.withDescription(
    "Serve nothing: ask database, chain, relayer and facilitator once, print what they say, and end; exit code 1 when one is not as it should be",
  ),
  Flag.withDefault(false),
)

const workers = Flag.Int("workers").pipe(
  Flag.withSchema(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 64 }))),
  Flag.withDescription(
    "Processes that share the port, 1 to 64; each adds a core, 16 connections to the database and the memory of a server",
  ),
  Flag.withDefault(1),
)

export const serve = Command.make(
  "serve",
  { check, workers, json: common.json },
  Effect.fnUntraced(function* (flags) {
    if (flags.check) {
      const { checking } = yield* Effect.promise(() => import("./Checking.ts"))
      return yield* checking(flags.json)
    }
    if (flags.workers > 1 && cluster.isPrimary) {
      const { working } = yield* Effect.promise(() => import("./Working.ts"))
      return yield* working(flags.workers)
    }
    const { serving } = yield* Effect.promise(() => import("./Serving.ts"))
    return yield* serving
  }),
).pipe(
  Command.withDescription(`Run the production server. Every value comes from the environment:\n${helpOf(variables)}`),
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
