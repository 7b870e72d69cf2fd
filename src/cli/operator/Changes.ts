/** What an operator changes by hand: selling, what is shown of an act, and rooms; each with a line of the audit. */
import { userInfo } from "node:os"
import { Console, Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { Administration, type By } from "../../admin/Administration.ts"
import { common } from "../Flags.ts"
import { plain } from "../Output.ts"
import { Trouble } from "../Trouble.ts"
import { type Asked, database, explained, run } from "./AdminDatabase.ts"

const doing = {
  json: common.json,
  why: Flag.String("why").pipe(Flag.withDescription("Why, for the audit; nobody else is told")),
  by: Flag.String("by").pipe(
    Flag.withDescription("Who decides it, for the audit, beside the account of this machine"),
    Flag.optional,
  ),
}

type Doing = Command.Command.Config.Infer<typeof doing>

const act = Argument.String("act").pipe(Argument.withDescription("Id of the act, as its permalink ends"))
const field = Argument.String("field").pipe(
  Argument.withDescription(
    "name: the public name; words: what was revealed or unsealed; or a public text by its name in the record, such as dedication or reason",
  ),
)

/** An account without a name, as containers have them, has its number. */
const account = Effect.sync(() =>
  Option.getOrElse(
    Option.liftThrowable(() => userInfo().username)(),
    () => `number ${process.getuid?.() ?? "unknown"}`,
  ),
)

/** What is said is kept beside what is known. */
const byOf = Effect.fnUntraced(function* ({ by, why }: Doing) {
  const said = Option.getOrUndefined(by)
  for (const [flag, text] of [
    ["--why", why],
    ["--by", said],
  ] as const) {
    if (text?.trim() === "")
      return yield* new Trouble({ message: `${flag} is blank: the audit needs it. Nothing changed.` })
  }
  const known = yield* account
  const found: By = { who: said === undefined ? known : `${said} (account ${known})`, why }
  return found
})

const change = <E>(
  flags: Doing,
  sentence: string,
  use: (administration: Administration["Service"], by: By) => Effect.Effect<void, E>,
) =>
  run(
    flags,
    Effect.gen(function* () {
      yield* use(yield* Administration, yield* byOf(flags))
      yield* Console.log(flags.json ? JSON.stringify({ ok: true, message: sentence }) : sentence)
    }),
  )

/** PostgreSQL refuses what is no UUID, and that would read as if the database were at fault. */
const withId = <A, E, R>(flags: Asked, id: string, what: string, use: Effect.Effect<A, E, R>) =>
  /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/iu.test(id)
    ? use
    : explained(
        flags,
        Effect.fail(
          new Trouble({
            message: `${plain(id)} is no id of ${what}: an id is a UUID, like 5f1b7c0e-3d2a-4f6b-8c9d-1e2f3a4b5c6d. Nothing changed.`,
          }),
        ),
      )

export const pause = Command.make("pause", doing, (flags) =>
  change(
    flags,
    "Selling is paused on every server of this database, within two seconds: new purchases answer 503 selling_paused; what is in flight still ends.",
    (administration, by) => administration.pause(by),
  ),
).pipe(
  Command.withDescription(
    `Pause selling on every server of this database, within two seconds and without a restart: new purchases answer 503 selling_paused with Retry-After. What is in flight still ends, and repeated requests get their answers. ${database}`,
  ),
  Command.withShortDescription("Sell nothing for now"),
  Command.withExamples([{ command: 'spirit-altar admin pause --why "the node is behind"', description: "Pause" }]),
)

export const resume = Command.make("resume", doing, (flags) =>
  change(flags, "Selling goes on, within two seconds.", (administration, by) => administration.resume(by)),
).pipe(
  Command.withDescription(`Let selling go on. ${database}`),
  Command.withShortDescription("Sell again"),
  Command.withExamples([{ command: 'spirit-altar admin resume --why "the node is back"', description: "Go on" }]),
)

export const hide = Command.make("hide", { act, field, ...doing }, (flags) =>
  withId(
    flags,
    flags.act,
    "an act",
    change(flags, `The ${flags.field} of ${flags.act} is hidden by the operator. Record and hashes stay.`, (one, by) =>
      one.hide(flags.act, flags.field, by),
    ),
  ),
).pipe(
  Command.withDescription(
    `Hide a name, a dedication, a reason or revealed words: every page and answer says "hidden by the operator" instead. Record and hashes stay, and so does the answer that the payer can repeat with its key. ${database}`,
  ),
  Command.withShortDescription("Hide a name or a text from the public"),
  Command.withExamples([
    { command: 'spirit-altar admin hide ID dedication --why "names a neighbour"', description: "Hide a dedication" },
  ]),
)

export const show = Command.make("show", { act, field, ...doing }, (flags) =>
  withId(
    flags,
    flags.act,
    "an act",
    change(flags, `The ${flags.field} of ${flags.act} is shown again.`, (one, by) =>
      one.show(flags.act, flags.field, by),
    ),
  ),
).pipe(
  Command.withDescription(`Show again what was hidden by hand. ${database}`),
  Command.withShortDescription("Show what was hidden"),
  Command.withExamples([{ command: 'spirit-altar admin show ID name --why "a mistake"', description: "Show a name" }]),
)

export const deleteRoom = Command.make(
  "delete-room",
  { room: Argument.String("room").pipe(Argument.withDescription("Id of the room")), ...doing },
  (flags) =>
    withId(
      flags,
      flags.room,
      "a room",
      change(flags, `Room ${flags.room} and all its messages are gone.`, (one, by) => one.deleteRoom(flags.room, by)),
    ),
).pipe(
  Command.withDescription(`Delete a signal room with all its messages, for good. ${database}`),
  Command.withShortDescription("Delete a signal room"),
  Command.withExamples([{ command: 'spirit-altar admin delete-room ID --why "abuse"', description: "Delete it" }]),
)
