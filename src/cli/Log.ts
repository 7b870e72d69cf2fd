/** `log`: what an operator does with the transparency log: make its key, see how it stands, let it go on. */
import { Effect } from "effect"
import { Command, Flag } from "effect/cli"
import { helpOf, log as variables, sufficient } from "../server/config/Table.ts"
import { defaultUrl } from "./Environment.ts"

const logging = Effect.promise(() => import("./Logging.ts"))

const database = `The database is that of DATABASE_URL:\n${helpOf([sufficient.databaseUrl])}`

const key = Command.make(
  "key",
  {
    url: Flag.String("url").pipe(
      Flag.withDescription("Public URL of the server: the log is named after it"),
      Flag.withDefault(defaultUrl),
    ),
    origin: Flag.String("origin").pipe(
      Flag.withDescription("Name of the log, when it is not host and /log of the URL; LOG_ORIGIN must say the same"),
      Flag.optional,
    ),
  },
  (flags) => Effect.flatMap(logging, ({ makeKey }) => makeKey(flags.url, flags.origin)),
).pipe(
  Command.withDescription(
    "Make a new key for a log, at random, and print it with its verifier key. Nothing is kept: whoever has the first line can sign for the log",
  ),
  Command.withShortDescription("Make a key for a log, and its verifier key"),
  Command.withExamples([
    { command: "spirit-altar log key --url https://altar.example >> .env", description: "A key for a server" },
  ]),
)

const status = Command.make("status", {}, () => Effect.flatMap(logging, (bodies) => bodies.status)).pipe(
  Command.withDescription(
    `Say how far the log is, whether it is stopped and why, and what to do. Exit code 1 when it is stopped. ${database}`,
  ),
  Command.withShortDescription("How far the log is, and why it stopped"),
  Command.withExamples([{ command: "DATABASE_URL=postgres://… spirit-altar log status", description: "Look" }]),
)

const resume = Command.make("resume", {}, () => Effect.flatMap(logging, (bodies) => bodies.resume)).pipe(
  Command.withDescription(
    `Let a stopped log go on, when what stopped it is mended; what is still wrong stops it again. ${database}`,
  ),
  Command.withShortDescription("Let a stopped log go on"),
  Command.withExamples([{ command: "DATABASE_URL=postgres://… spirit-altar log resume", description: "Go on" }]),
)

const confirm = Command.make(
  "confirm",
  {
    root: Flag.String("root").pipe(
      Flag.withDescription("Root hash, Base64, of the newest checkpoint, once it was compared with what others hold"),
      Flag.optional,
    ),
  },
  (flags) => Effect.flatMap(logging, (bodies) => bodies.confirm(flags.root)),
).pipe(
  Command.withDescription(
    `Write the newest published checkpoint of the database to LOG_CHECKPOINT_FILE, so that a log that waits after a start goes on. Without --root it changes nothing and says what to compare. ${database}\n${helpOf([variables.checkpointFile])}`,
  ),
  Command.withShortDescription("Confirm the newest checkpoint by hand, for a log that waits"),
  Command.withExamples([
    { command: "DATABASE_URL=postgres://… spirit-altar log confirm", description: "See what has to be compared" },
  ]),
)

export const log = Command.make("log").pipe(
  Command.withDescription("The transparency log of a server: its key, how it stands, and how it goes on"),
  Command.withSubcommands([key, status, confirm, resume]),
)
