/** Changes by an operator: selling, shown texts of an act, and rooms; each adds a line to the audit. */
import { userInfo } from "node:os"
import { Effect, Option } from "effect"
import { Argument, Flag } from "effect/cli"
import { Administration, type Actor } from "../../admin/Administration.ts"
import { type Config, type FlagValues, text, type CommandText, word } from "../Define.ts"
import { onDatabase } from "../Database.ts"
import { print } from "../Output.ts"

const isSaid = (words: string) => words.trim() !== ""

export const by = text("by", "Operator, for the audit, beside this machine's account").pipe(
  Flag.filter(isSaid, () => "a name, and this one is blank. Nothing changed."),
  Flag.optional,
)

const doing = {
  why: text("why", "Reason, for the audit alone").pipe(
    Flag.filter(isSaid, () => "a reason, and this one is blank. Nothing changed."),
  ),
  by,
}

/** The given name beside the account's. An account without a name, as in containers, has its number. */
export const actorOf = ({ by, why }: { readonly by: Option.Option<string>; readonly why: string }): Actor => {
  const account = Option.getOrElse(
    Option.liftThrowable(() => userInfo().username)(),
    () => `number ${process.getuid?.() ?? "unknown"}`,
  )
  return { who: Option.match(by, { onNone: () => account, onSome: (name) => `${name} (account ${account})` }), why }
}

export const isId = (text: string) => /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/iu.test(text)

const id = (name: string, of: string, says: string) =>
  word(name, says).pipe(
    Argument.filter(isId, () => `the id of ${of}, a UUID like 5f1b7c0e-3d2a-4f6b-8c9d-1e2f3a4b5c6d. Nothing changed.`),
  )

const change = <const Name extends string, const Flags extends Config, E>(
  name: Name,
  text: CommandText & {
    readonly flags: Flags
    readonly change: (admin: Administration["Service"], by: Actor, given: FlagValues<Flags>) => Effect.Effect<void, E>
    readonly done: (given: FlagValues<Flags>) => string
  },
) =>
  onDatabase(name, {
    ...text,
    flags: { own: text.flags, ...doing },
    run: Effect.fnUntraced(function* ({ own, ...flags }) {
      yield* text.change(yield* Administration, actorOf(flags), own)
      const message = text.done(own)
      yield* print({ ok: true, message }, message)
    }),
  })

const shown = {
  act: id("act", "an act", "Id of the act, as its permalink ends"),
  field: word(
    "field",
    "name: the public name; words: the revealed or unsealed words; or a public text by its name in the record, such as dedication or reason",
  ),
}

const subject = (act: string, field: string) => `The ${field} of ${act} ${field === "words" ? "are" : "is"}`

export const changes = [
  change("pause", {
    description:
      "Pause selling. On every server of this database, within two seconds and without a restart, new purchases answer 503 selling_paused with Retry-After. Payments in flight still complete, and repeated requests get their answers.",
    examples: { 'spirit-altar admin pause --why "the node is behind"': "Pause" },
    flags: {},
    change: (admin, by) => admin.pause(by),
    done: () =>
      "Selling is paused on every server of this database, within two seconds: new purchases answer 503 selling_paused; payments in flight still end.",
  }),
  change("resume", {
    description: "Resume selling.",
    examples: { 'spirit-altar admin resume --why "the node is back"': "Go on" },
    flags: {},
    change: (admin, by) => admin.resume(by),
    done: () => "Selling resumes within two seconds.",
  }),
  change("hide", {
    description:
      'Hide a name, a dedication, a reason or revealed words. Every page and answer says "hidden by the operator" instead. Record and hashes stay, and the payer can still repeat the first answer with its key.',
    examples: { 'spirit-altar admin hide ID dedication --why "names a neighbour"': "Hide a dedication" },
    flags: shown,
    change: (admin, by, { act, field }) => admin.hide(act, field, by),
    done: ({ act, field }) => `${subject(act, field)} hidden by the operator. Record and hashes stay.`,
  }),
  change("show", {
    description: "Show a hidden text again.",
    examples: { 'spirit-altar admin show ID name --why "a mistake"': "Show a name" },
    flags: shown,
    change: (admin, by, { act, field }) => admin.show(act, field, by),
    done: ({ act, field }) => `${subject(act, field)} shown again.`,
  }),
  change("acknowledge", {
    description:
      "Acknowledge an act whose payment was orphaned for good, as spirit-altar admin attempts lists it. /api/health and alerts count it no more. The act stays, and its receipt says lost.",
    examples: { 'spirit-altar admin acknowledge ID --why "the payer was told"': "Acknowledge it" },
    flags: { act: shown.act },
    change: (admin, by, { act }) => admin.acknowledge(act, by),
    done: ({ act }) => `The lost payment of ${act} is acknowledged. The act stays.`,
  }),
  change("delete-room", {
    description: "Delete a signal room with all its messages, for good.",
    examples: { 'spirit-altar admin delete-room ID --why "abuse"': "Delete it" },
    flags: { room: id("room", "a room", "Id of the room") },
    change: (admin, by, { room }) => admin.deleteRoom(room, by),
    done: ({ room }) => `Room ${room} and all its messages are gone.`,
  }),
] as const
