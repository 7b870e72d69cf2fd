/** `room`: short signals between people and agents, from a terminal. */
import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { modes } from "../../../schema/room/Message.ts"
import { common } from "../Flags.ts"
import { type CommandError, plain, pretty, show } from "../Output.ts"
import { type Invite, linkOf, open, type Rooms } from "./Rooms.ts"

const room = Argument.String("room").pipe(
  Argument.withDescription("Its id or name as the journal knows it, or its invite link; - reads the link from stdin"),
)
/** An invite says where its room is. */
const { url: _, ...kept } = common

const showLink = Flag.Boolean("show-link").pipe(
  Flag.withDescription("Print the invite link; whoever has it can read, send and delete"),
  Flag.withDefault(false),
)

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

/** With the rooms of a journal and the one of them that is named. */
const inRoom = <A>(
  flags: Command.Command.Config.Infer<typeof kept & { readonly room: typeof room }>,
  use: (rooms: Rooms, found: Invite) => Effect.Effect<A, CommandError>,
  render: (answer: A) => string,
) =>
  show(
    flags,
    Effect.gen(function* () {
      const rooms = yield* open(flags)
      return yield* use(rooms, yield* rooms.find(flags.room))
    }),
    render,
  )

const create = Command.make(
  "create",
  {
    ...common,
    name: Flag.String("name").pipe(Flag.withDescription("What the room is called, 1 to 60 characters"), Flag.optional),
    showLink,
  },
  (flags) =>
    show(
      flags,
      Effect.gen(function* () {
        const { invite, room } = yield* (yield* open(flags)).create(flags.url, flags.name)
        return flags.showLink ? { room, link: linkOf(invite) } : { room }
      }),
      ({ link, room }) =>
        `room ${room.id} ${plain(room.name)}, until ${room.expiresAt}\n${link ?? "Its invite is in the journal: room invite prints it."}`,
    ),
).pipe(
  Command.withDescription("Create a room; its invite is kept in the journal"),
  Command.withExamples([
    { command: 'spirit-altar room create --name "Night shift" --show-link', description: "Create, and print the link" },
  ]),
)

const list = Command.make("list", kept, (flags) =>
  show(
    flags,
    Effect.gen(function* () {
      const known = yield* (yield* open(flags)).list
      return known.map(({ expiresAt, id, name, url }) => ({ id, name, url, expiresAt }))
    }),
    (known) => known.map(({ expiresAt, id, name }) => plain(`${id}  ${expiresAt}  ${name}`)).join("\n"),
  ),
).pipe(
  Command.withDescription("The rooms this journal has invites of"),
  Command.withExamples([{ command: "spirit-altar room list", description: "Ids and names, no tokens" }]),
)

const invite = Command.make("invite", { ...kept, room }, (flags) =>
  inRoom(
    flags,
    (_, found) => Effect.succeed({ link: linkOf(found) }),
    ({ link }) => link,
  ),
).pipe(
  Command.withDescription("Print a room's invite link; it is the secret itself"),
  Command.withExamples([{ command: 'spirit-altar room invite "Night shift"', description: "For whoever may come in" }]),
)

const read = Command.make(
  "read",
  {
    ...kept,
    room,
    after: Flag.Int("after").pipe(
      Flag.withDescription("Only messages after this number; the latest 50 when absent"),
      Flag.optional,
    ),
  },
  (flags) =>
    inRoom(
      flags,
      ({ read }, found) => read(found, Option.getOrUndefined(flags.after)),
      ({ messages }) => (messages.length === 0 ? "No messages." : messages.map(line).join("\n")),
    ),
).pipe(
  Command.withDescription("The latest messages of a room; joining needs nothing but the link"),
  Command.withExamples([
    {
      command: "spirit-altar room read - < invite.txt",
      description: "With a link that stays out of the shell's history",
    },
    { command: 'spirit-altar room read "Night shift" --after 17', description: "What came after message 17" },
  ]),
)

const send = Command.make(
  "send",
  {
    ...kept,
    room,
    text: Argument.String("text").pipe(Argument.withDescription("What to say, 1 to 160 characters on one line")),
    sender: Flag.String("sender").pipe(Flag.withDescription("Who says it, 1 to 40 characters")),
    kind: Flag.Literals("kind", ["agent", "person"]).pipe(
      Flag.withDescription("What the sender is"),
      Flag.withDefault("agent" as const),
    ),
    mode: Flag.Literals("mode", modes).pipe(
      Flag.withDescription("The light and sound a page plays for it"),
      Flag.withDefault("calm" as const),
    ),
    clientId: Flag.String("client-id").pipe(
      Flag.withDescription("Names this message: repeat it to repeat the sending without saying it twice"),
      Flag.optional,
    ),
  },
  (flags) =>
    inRoom(
      flags,
      ({ send }, found) => {
        const { kind: senderKind, mode, sender, text } = flags
        const clientId = Option.getOrElse(flags.clientId, () => crypto.randomUUID())
        return send(found, { sender, senderKind, text, mode, clientId })
      },
      ({ duplicate, message }) => `${duplicate ? "already sent  " : "sent  "}${line(message)}`,
    ),
).pipe(
  Command.withDescription("Send a message; an answer means that the server has it, not that anybody read it"),
  Command.withExamples([
    {
      command: 'spirit-altar room send "Night shift" "The build is green." --sender Wren --mode celebrate',
      description: "Celebrate",
    },
  ]),
)

const poll = Command.make(
  "poll",
  {
    ...kept,
    room,
    every: Flag.Int("every").pipe(
      Flag.withDescription("Seconds between two looks, 1 to 3600"),
      Flag.withDefault(3),
      Flag.filter(
        (seconds) => seconds >= 1 && seconds <= 3600,
        () => "1 to 3600 seconds",
      ),
    ),
  },
  (flags) =>
    inRoom(
      flags,
      ({ poll }, found) =>
        poll(found, flags.every, (message) => (flags.json ? JSON.stringify(message) : line(message))),
      pretty,
    ),
).pipe(
  Command.withDescription("Print new messages as they come, until Ctrl-C; with --json one document a line"),
  Command.withExamples([{ command: 'spirit-altar room poll "Night shift" --json', description: "For a program" }]),
)

const remove = Command.make("delete", { ...kept, room }, (flags) =>
  inRoom(
    flags,
    ({ remove }, found) => remove(found),
    () => "The room, its messages and its invite are gone, for everyone.",
  ),
).pipe(
  Command.withDescription("Delete a room for everyone, at once"),
  Command.withExamples([{ command: 'spirit-altar room delete "Night shift"', description: "Gone" }]),
)

export const roomCommand = Command.make("room").pipe(
  Command.withDescription("Signal rooms: create, read, send, poll"),
  Command.withSubcommands([create, list, invite, read, send, poll, remove]),
)
