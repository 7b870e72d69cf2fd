/** Changes by an operator: selling, shown texts of an act, and rooms; each adds a line to the audit. */
import { userInfo } from "node:os"
import { Console, Effect, Option } from "effect"
import type { Command } from "effect/cli"
import { Administration, type Actor } from "../../admin/Administration.ts"
import { type Config, type FlagValues, optionalText, text, type CommandText, word } from "../Define.ts"
import { common } from "../Flags.ts"
import { plain } from "../Output.ts"
import { CommandFailure } from "../CommandFailure.ts"
import { onDatabase } from "../Database.ts"

export const doing = {
  json: common.json,
  why: text("why", "Reason, for the audit alone"),
  by: optionalText("by", "Operator, for the audit, beside this machine's account"),
}

type Doing = Command.Command.Config.Infer<typeof doing>

/** An account without a name, as in containers, has its number. */
const account = Effect.sync(() =>
  Option.getOrElse(
    Option.liftThrowable(() => userInfo().username)(),
    () => `number ${process.getuid?.() ?? "unknown"}`,
  ),
)

/** Stores the given name beside the account's. */
export const byOf = Effect.fnUntraced(function* ({ by, why }: Pick<Doing, "by" | "why">) {
  const said = Option.getOrUndefined(by)
  const blank = why.trim() === "" ? "--why" : said?.trim() === "" ? "--by" : undefined
  if (blank !== undefined)
    return yield* new CommandFailure({ message: `${blank} is blank: the audit needs it. Nothing changed.` })
  const known = yield* account
  return { who: said === undefined ? known : `${said} (account ${known})`, why } satisfies Actor
})

export const isId = (text: string) => /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/iu.test(text)

const change = <const Name extends string, const Flags extends Config, E>(
  name: Name,
  told: CommandText & {
    readonly flags: Flags
    /** The target, checked here: PostgreSQL's refusal of an invalid UUID would read like a fault of the database. */
    readonly subject?: (given: FlagValues<Flags>) => readonly [what: string, id: string]
    readonly change: (one: Administration["Service"], by: Actor, given: FlagValues<Flags>) => Effect.Effect<void, E>
    readonly done: (given: FlagValues<Flags>) => string
  },
) =>
  onDatabase(name, {
    ...told,
    flags: { own: told.flags, ...doing },
    run: Effect.fnUntraced(function* ({ own, ...flags }) {
      const [what = "", id = ""] = told.subject?.(own) ?? []
      if (told.subject !== undefined && !isId(id))
        return yield* new CommandFailure({
          message: `${plain(id)} is no id of ${what}: an id is a UUID, like 5f1b7c0e-3d2a-4f6b-8c9d-1e2f3a4b5c6d. Nothing changed.`,
        })
      yield* told.change(yield* Administration, yield* byOf(flags), own)
      const message = told.done(own)
      yield* Console.log(flags.json ? JSON.stringify({ ok: true, message }) : message)
    }),
  })

const shown = {
  flags: {
    act: word("act", "Id of the act, as its permalink ends"),
    field: word(
      "field",
      "name: the public name; words: the revealed or unsealed words; or a public text by its name in the record, such as dedication or reason",
    ),
  },
  subject: ({ act }: { readonly act: string }) => ["an act", act] as const,
}

const subject = (act: string, field: string) => `The ${field} of ${act} ${field === "words" ? "are" : "is"}`

export const changes = [
  change("pause", {
    description:
      "Pause selling on every server of this database, within two seconds and without a restart: new purchases answer 503 selling_paused with Retry-After. Payments in flight still complete, and repeated requests get their answers.",
    summary: "Pause all sales",
    examples: [['spirit-altar admin pause --why "the node is behind"', "Pause"]],
    flags: {},
    change: (one, by) => one.pause(by),
    done: () =>
      "Selling is paused on every server of this database, within two seconds: new purchases answer 503 selling_paused; payments in flight still end.",
  }),
  change("resume", {
    description: "Resume selling.",
    summary: "Sell again",
    examples: [['spirit-altar admin resume --why "the node is back"', "Go on"]],
    flags: {},
    change: (one, by) => one.resume(by),
    done: () => "Selling resumes within two seconds.",
  }),
  change("hide", {
    ...shown,
    description:
      'Hide a name, a dedication, a reason or revealed words: every page and answer says "hidden by the operator" instead. Record and hashes stay, and the payer can still repeat the first answer with its key.',
    summary: "Hide a name or a text from the public",
    examples: [['spirit-altar admin hide ID dedication --why "names a neighbour"', "Hide a dedication"]],
    change: (one, by, { act, field }) => one.hide(act, field, by),
    done: ({ act, field }) => `${subject(act, field)} hidden by the operator. Record and hashes stay.`,
  }),
  change("show", {
    ...shown,
    description: "Show a hidden text again.",
    summary: "Show a hidden text",
    examples: [['spirit-altar admin show ID name --why "a mistake"', "Show a name"]],
    change: (one, by, { act, field }) => one.show(act, field, by),
    done: ({ act, field }) => `${subject(act, field)} shown again.`,
  }),
  change("delete-room", {
    description: "Delete a signal room with all its messages, for good.",
    summary: "Delete a signal room",
    examples: [['spirit-altar admin delete-room ID --why "abuse"', "Delete it"]],
    flags: { room: word("room", "Id of the room") },
    subject: ({ room }) => ["a room", room],
    change: (one, by, { room }) => one.deleteRoom(room, by),
    done: ({ room }) => `Room ${room} and all its messages are gone.`,
  }),
] as const
