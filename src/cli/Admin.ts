/** `admin`: what an operator looks at and changes by hand, in the database that the environment names. */
import { Effect } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { variablesHelp } from "../Variables.ts"
import { common } from "./Flags.ts"

const bodies = Effect.promise(() => import("./Administering.ts"))

const database = `The database is that of DATABASE_URL:\n${variablesHelp(["DATABASE_URL"])}`

const { json } = common

const doing = {
  json,
  why: Flag.String("why").pipe(Flag.withDescription("Why, for the audit; nobody else is told")),
  by: Flag.String("by").pipe(
    Flag.withDescription("Who decides it, for the audit, beside the account of this machine"),
    Flag.optional,
  ),
}

const limit = Flag.Int("limit").pipe(
  Flag.filter(
    (rows) => rows >= 1 && rows <= 10_000,
    (rows) => `${rows} is no limit; write a whole number from 1 to 10000`,
  ),
  Flag.withDescription("How many at most, 1 to 10000 (50)"),
  Flag.withDefault(50),
)

const act = Argument.String("act").pipe(Argument.withDescription("Id of the act, as its permalink ends"))
const field = Argument.String("field").pipe(
  Argument.withDescription(
    "name: the public name; words: what was revealed or unsealed; or a public text by its name in the record, such as dedication or reason",
  ),
)

const pause = Command.make("pause", doing, (flags) => Effect.flatMap(bodies, (one) => one.pause(flags))).pipe(
  Command.withDescription(
    `Pause selling on every server of this database, within two seconds and without a restart: new purchases answer 503 selling_paused with Retry-After. What is in flight still ends, and repeated requests get their answers. ${database}`,
  ),
  Command.withShortDescription("Sell nothing for now"),
  Command.withExamples([{ command: 'spirit-altar admin pause --why "the node is behind"', description: "Pause" }]),
)

const resume = Command.make("resume", doing, (flags) => Effect.flatMap(bodies, (one) => one.resume(flags))).pipe(
  Command.withDescription(`Let selling go on. ${database}`),
  Command.withShortDescription("Sell again"),
  Command.withExamples([{ command: 'spirit-altar admin resume --why "the node is back"', description: "Go on" }]),
)

const hide = Command.make("hide", { act, field, ...doing }, (flags) =>
  Effect.flatMap(bodies, (one) => one.hide(flags)),
).pipe(
  Command.withDescription(
    `Hide a name, a dedication, a reason or revealed words: every page and answer says "hidden by the operator" instead. Record and hashes stay, and so does the answer that the payer can repeat with its key. ${database}`,
  ),
  Command.withShortDescription("Hide a name or a text from the public"),
  Command.withExamples([
    { command: 'spirit-altar admin hide ID dedication --why "names a neighbour"', description: "Hide a dedication" },
  ]),
)

const show = Command.make("show", { act, field, ...doing }, (flags) =>
  Effect.flatMap(bodies, (one) => one.show(flags)),
).pipe(
  Command.withDescription(`Show again what was hidden by hand. ${database}`),
  Command.withShortDescription("Show what was hidden"),
  Command.withExamples([{ command: 'spirit-altar admin show ID name --why "a mistake"', description: "Show a name" }]),
)

const deleteRoom = Command.make(
  "delete-room",
  { room: Argument.String("room").pipe(Argument.withDescription("Id of the room")), ...doing },
  (flags) => Effect.flatMap(bodies, (one) => one.deleteRoom(flags)),
).pipe(
  Command.withDescription(`Delete a signal room with all its messages, for good. ${database}`),
  Command.withShortDescription("Delete a signal room"),
  Command.withExamples([{ command: 'spirit-altar admin delete-room ID --why "abuse"', description: "Delete it" }]),
)

const attempts = Command.make("attempts", { json, limit }, (flags) =>
  Effect.flatMap(bodies, (one) => one.attempts(flags)),
).pipe(
  Command.withDescription(
    `List purchases whose outcome is not known yet, oldest first: age, evidence so far, the next look, and what a person can do. Nothing is ended by hand: evidence alone does. ${database}`,
  ),
  Command.withShortDescription("Purchases whose outcome is not known"),
  Command.withExamples([{ command: "spirit-altar admin attempts", description: "What is open" }]),
)

const attempt = Command.make(
  "attempt",
  {
    what: Argument.String("what").pipe(
      Argument.withDescription("An idempotency key, an id, a transaction hash, or a wallet"),
    ),
    json,
    limit,
  },
  (flags) => Effect.flatMap(bodies, (one) => one.attempt(flags)),
).pipe(
  Command.withDescription(`Look up what became of a purchase. ${database}`),
  Command.withShortDescription("What became of a purchase"),
  Command.withExamples([{ command: "spirit-altar admin attempt 0x…", description: "By wallet or transaction" }]),
)

const audit = Command.make("audit", { json, limit }, (flags) => Effect.flatMap(bodies, (one) => one.audit(flags))).pipe(
  Command.withDescription(`Who changed what by hand, when and why, newest first. ${database}`),
  Command.withShortDescription("Who changed what by hand"),
  Command.withExamples([{ command: "spirit-altar admin audit --json", description: "As one document" }]),
)

const exporting = Command.make(
  "export",
  {
    what: Argument.Literals("what", ["acts", "chain"]).pipe(Argument.withDescription("acts, or the witness chain")),
    format: Flag.Literals("format", ["csv", "ndjson"]).pipe(
      Flag.withDescription("csv, or one JSON document a line (ndjson)"),
      Flag.withDefault("ndjson" as const),
    ),
  },
  (flags) => Effect.flatMap(bodies, (one) => one.exporting(flags)),
).pipe(
  Command.withDescription(
    `Write all acts or all links of the chain to stdout, oldest first: what is public of them, in constant memory. Acts are those of the moment when it begins, read in one transaction that lasts as long as whoever reads the output. ${database}`,
  ),
  Command.withShortDescription("All acts or the chain, as CSV or NDJSON"),
  Command.withExamples([
    { command: "spirit-altar admin export acts --format csv > acts.csv", description: "For a spreadsheet" },
  ]),
)

export const admin = Command.make("admin").pipe(
  Command.withDescription(
    "What an operator looks at and changes by hand, in the database of DATABASE_URL; every change is kept with who, when and why",
  ),
  Command.withShortDescription("Look at and change what only an operator may"),
  Command.withSubcommands([attempts, attempt, pause, resume, hide, show, deleteRoom, exporting, audit]),
)
