/** `witness-serve`: a witness for the logs of others, so that two operators can watch each other. */
import { Effect } from "effect"
import { Command, Flag } from "effect/cli"

export const witnessServe = Command.make(
  "witness-serve",
  {
    name: Flag.String("name").pipe(
      Flag.withDescription("Name of its key, for life: host and path it is known by, without scheme"),
    ),
    log: Flag.String("log").pipe(
      Flag.withMetavar("vkey"),
      Flag.withDescription("Verifier key of a log it signs for; may be repeated"),
      Flag.atLeast(1),
    ),
    data: Flag.String("data").pipe(
      Flag.withMetavar("folder"),
      Flag.withDescription("Where its key and what it signed last are kept; never restore it from a backup"),
    ),
    host: Flag.String("host").pipe(Flag.withDescription("Address to listen on"), Flag.withDefault("127.0.0.1")),
    port: Flag.Int("port").pipe(Flag.withDescription("Port to listen on"), Flag.withDefault(3200)),
  },
  (flags) =>
    Effect.flatMap(
      Effect.promise(() => import("./WitnessServing.ts")),
      ({ witnessServing }) => witnessServing(flags),
    ),
).pipe(
  Command.withDescription(
    "Cosign the checkpoints of transparency logs (C2SP tlog-witness): each that continues the last one signed, and no other. The key is made at the first start; what was signed is on disk before it is answered",
  ),
  Command.withShortDescription("Run a witness for transparency logs"),
  Command.withExamples([
    {
      command:
        "spirit-altar witness-serve --name witness.example/w1 --log altar.example/log+21ce6caa+AW… --data ./witness",
      description: "Watch one log",
    },
  ]),
)
