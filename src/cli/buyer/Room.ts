/** `room`: short signals between people and agents, from a terminal. */
import { Effect, Option } from "effect"
import { Command, Flag } from "effect/cli"
import { modes } from "../../../schema/room/Message.ts"
import { command, type Config, type FlagValues, on, optionalText, text, type CommandText, word } from "../Define.ts"
import { common } from "../Flags.ts"
import { type CommandError, plain, pretty, show } from "../Output.ts"
import { type Invite, linkOf, open, type Rooms } from "./Rooms.ts"

/** An invite contains the room's URL. */
const { url: _, ...kept } = common

const room = word("room", "Its id or name as the journal knows it, or its invite link; - reads the link from stdin")

interface RoomMessage {
  readonly seq: number
  readonly sender: string
  readonly senderKind: string
  readonly text: string
  readonly mode: string
  readonly createdAt: string
}

const line = ({ createdAt, mode, sender, senderKind, seq, text }: RoomMessage) =>
  plain(`${seq}  ${createdAt}  ${sender} (${senderKind}) ${mode}: ${text}`)

/** A command for one of the rooms of a journal. */
const inRoom = <const Name extends string, const Flags extends Config, A>(
  name: Name,
  told: CommandText & {
    readonly flags: Flags
    readonly use: (
      rooms: Rooms,
      found: Invite,
      given: FlagValues<Flags>,
      isJson: boolean,
    ) => Effect.Effect<A, CommandError>
    readonly render: (answer: A) => string
  },
) =>
  command(name, {
    ...told,
    flags: { ...kept, room, own: told.flags },
    run: ({ own, ...flags }) =>
      show(
        flags,
        Effect.gen(function* () {
          const rooms = yield* open(flags)
          return yield* told.use(rooms, yield* rooms.find(flags.room), own, flags.json)
        }),
        told.render,
      ),
  })

const create = command("create", {
  description: "Create a room, and store its invite in the journal",
  examples: [['spirit-altar room create --name "Night shift" --show-link', "Create, and print the link"]],
  flags: {
    ...common,
    name: optionalText("name", "Name of the room, 1 to 60 characters"),
    showLink: on("show-link", "Print the invite link, with which anyone can read, send and delete"),
  },
  run: (flags) =>
    show(
      flags,
      Effect.gen(function* () {
        const { invite, room } = yield* (yield* open(flags)).create(flags.url, flags.name)
        return flags.showLink ? { room, link: linkOf(invite) } : { room }
      }),
      ({ link, room }) =>
        `room ${room.id} ${plain(room.name)}, until ${room.expiresAt}\n${link ?? "Its invite is in the journal: room invite prints it."}`,
    ),
})

const list = command("list", {
  description: "Rooms whose invites are in this journal",
  examples: [["spirit-altar room list", "Ids and names, no tokens"]],
  flags: kept,
  run: (flags) =>
    show(
      flags,
      Effect.gen(function* () {
        const known = yield* (yield* open(flags)).list
        return known.map(({ expiresAt, id, name, url }) => ({ id, name, url, expiresAt }))
      }),
      (known) => known.map(({ expiresAt, id, name }) => plain(`${id}  ${expiresAt}  ${name}`)).join("\n"),
    ),
})

const invite = inRoom("invite", {
  description: "Print a room's invite link, which is its secret",
  examples: [['spirit-altar room invite "Night shift"', "For a guest"]],
  flags: {},
  use: (_, found) => Effect.succeed({ link: linkOf(found) }),
  render: ({ link }) => link,
})

const read = inRoom("read", {
  description: "The latest messages of a room; the link suffices to join",
  examples: [
    ["spirit-altar room read - < invite.txt", "With a link kept out of the shell's history"],
    ['spirit-altar room read "Night shift" --after 17', "Only messages after number 17"],
  ],
  flags: {
    after: Flag.Int("after").pipe(
      Flag.withDescription("Only messages after this number; the latest 50 when absent"),
      Flag.optional,
    ),
  },
  use: ({ read }, found, { after }) => read(found, Option.getOrUndefined(after)),
  render: ({ messages }) => (messages.length === 0 ? "No messages." : messages.map(line).join("\n")),
})

const send = inRoom("send", {
  description: "Send a message; the answer confirms that the server has it, not that someone read it",
  examples: [
    ['spirit-altar room send "Night shift" "The build is green." --sender Wren --mode celebrate', "Celebrate"],
  ],
  flags: {
    text: word("text", "Text, 1 to 160 characters on one line"),
    sender: text("sender", "Name of the sender, 1 to 40 characters"),
    senderKind: Flag.Literals("kind", ["agent", "person"]).pipe(
      Flag.withDescription("Kind of the sender"),
      Flag.withDefault("agent" as const),
    ),
    mode: Flag.Literals("mode", modes).pipe(
      Flag.withDescription("The light and sound a page plays for it"),
      Flag.withDefault("calm" as const),
    ),
    clientId: optionalText("client-id", "Id of this message: repeat it to resend safely"),
  },
  use: ({ send }, found, { clientId, ...message }) =>
    send(found, { ...message, clientId: Option.getOrElse(clientId, () => crypto.randomUUID()) }),
  render: ({ duplicate, message }) => `${duplicate ? "already sent  " : "sent  "}${line(message)}`,
})

const poll = inRoom("poll", {
  description: "Print new messages as they arrive, until Ctrl-C; with --json one document a line",
  examples: [['spirit-altar room poll "Night shift" --json', "For a program"]],
  flags: {
    every: Flag.Int("every").pipe(
      Flag.withDescription("Seconds between two polls, 1 to 3600"),
      Flag.withDefault(3),
      Flag.filter(
        (seconds) => seconds >= 1 && seconds <= 3600,
        () => "1 to 3600 seconds",
      ),
    ),
  },
  use: ({ poll }, found, { every }, isJson) =>
    poll(found, every, (message) => (isJson ? JSON.stringify(message) : line(message))),
  render: pretty,
})

const remove = inRoom("delete", {
  description: "Delete a room for everyone, at once",
  examples: [['spirit-altar room delete "Night shift"', "Gone"]],
  flags: {},
  use: ({ remove }, found) => remove(found),
  render: () => "The room, its messages and its invite are gone, for everyone.",
})

export const roomCommand = Command.make("room").pipe(
  Command.withDescription("Signal rooms: create, read, send, poll"),
  Command.withSubcommands([create, list, invite, read, send, poll, remove]),
)
