/** Stories of signal rooms: two addresses, up to three rooms, windows met to the millisecond, expiry, eviction. */
import { Arbitrary, Clock, Effect, Layer, Logger, Schema } from "effect"
import { AppConfig } from "../../../src/server/config/Config.ts"
import * as Server from "../../../src/server/Server.ts"
import { database, sql } from "../../lab/Database.ts"
import { roomConfig } from "../../lab/server/Rooms.ts"
import { type Answer, ask, post } from "../../lab/Fixture.ts"
import { differ } from "./Difference.ts"
import { ControlledClock } from "./ControlledClock.ts"
import { type Drawn, none, type Request, type Rooms, step } from "./RoomModel.ts"
import type { Play } from "./Story.ts"

const minute = 60_000
const day = 86_400_000

/** How long time passes: beside and on the edges of every window and of a room's life. */
const pauses = {
  "a millisecond": 1,
  "20 seconds": 20_000,
  "a minute but a millisecond": minute - 1,
  "a minute": minute,
  "an hour but a millisecond": 60 * minute - 1,
  "an hour": 60 * minute,
  "a day": day,
  "six days": 6 * day,
  "seven days but a millisecond": 7 * day - 1,
} as const

const Pause = Schema.Literals(Object.keys(pauses) as ReadonlyArray<keyof typeof pauses>)
const Address = Schema.Literals(["198.18.0.1", "198.18.0.2"])
const Place = Schema.Literals([0, 0, 1, 2])
const common = { address: Address, room: Place }

const Send = Schema.TaggedStruct("Send", {
  ...common,
  text: Schema.Literals(["The build is green.", "The build is red."]),
  clientId: Schema.Literals(["", "", "first", "second"]),
  times: Schema.Literals([1, 1, 2, 19, 31]),
  path: Schema.Literals(["", "/messages"]),
})
const Poll = Schema.TaggedStruct("Poll", {
  ...common,
  /** From so many messages before the newest. */
  behind: Schema.Literals([1000, 0, 1, 49, 50, 51, -1]),
  times: Schema.Literals([1, 1, 1, 60, 121]),
  path: Schema.Literals(["", "/stream"]),
})
const Pass = Schema.TaggedStruct("Pass", { pause: Pause })
const Command = Schema.Union([
  Schema.TaggedStruct("Create", {
    address: Address,
    name: Schema.Literals(["", "Night shift"]),
    times: Schema.Literals([1, 1, 4]),
  }),
  Send,
  Send,
  Send,
  Poll,
  Poll,
  Schema.TaggedStruct("Stranger", { ...common, does: Schema.Literals(["send", "poll", "delete"]) }),
  Schema.TaggedStruct("Delete", { ...common, times: Schema.Literals([1, 1, 1, 11]) }),
  Pass,
  Pass,
  // A crowd is decided in an order that only the server knows, so it says nothing but how many were let in.
  Schema.TaggedStruct("Crowd", { ...common, count: Schema.Literals([5, 25]) }),
])
type Command = typeof Command.Type

const world = Layer.effect(AppConfig, roomConfig()).pipe(
  Layer.provideMerge(ControlledClock.layer),
  Layer.provideMerge(sql),
  Layer.provideMerge(database),
)

const server = Layer.unwrap(
  Effect.map(ControlledClock, ({ clock }) =>
    Server.layer(Layer.empty).pipe(Layer.provide(Layer.succeed(Clock.Clock, clock))),
  ),
)

const strangersToken = "A".repeat(43)
const noRoom = "00000000-0000-4000-8000-000000000000"

const content = (text: string) => ({ sender: "Wren", text, mode: "calm" })

/** The request of a command; nothing where it has none of its own. */
const requestOf = (command: Command, { rooms }: Rooms): Request | undefined => {
  if (command._tag === "Pass" || command._tag === "Crowd") return undefined
  const { address } = command
  const isStranger = command._tag === "Stranger"
  const asked = { address, room: command._tag === "Create" ? -1 : command.room, isStranger }
  switch (isStranger ? command.does : command._tag) {
    case "send":
      return { kind: "send", ...asked, content: content("Let me in."), clientId: "first" }
    case "poll":
      return { kind: "poll", ...asked, after: 0 }
    case "delete":
    case "Delete":
      return { kind: "delete", ...asked }
  }
  switch (command._tag) {
    case "Create":
      return { kind: "create", ...asked, name: command.name }
    case "Send":
      return { kind: "send", ...asked, content: content(command.text), clientId: command.clientId }
    case "Poll":
      return { kind: "poll", ...asked, after: Math.max(0, (rooms[command.room]?.latest ?? 0) - command.behind) }
    default:
      return undefined
  }
}

const sendTo = (url: string, path: string, request: Request, { rooms }: Rooms) => {
  const room = rooms[request.room]
  const token = request.isStranger ? strangersToken : (room?.token ?? strangersToken)
  const headers = { "x-forwarded-for": request.address, authorization: `Bearer ${token}` }
  const at = `${url}/api/rooms/${room?.id ?? noRoom}`
  switch (request.kind) {
    case "create":
      return ask(`${url}/api/rooms`, post(request.name === "" ? {} : { name: request.name }, headers))
    case "send":
      return ask(
        `${at}${path}`,
        post({ ...request.content, ...(request.clientId === "" ? {} : { clientId: request.clientId }) }, headers),
      )
    case "poll":
      return ask(`${at}${path}?after=${request.after}`, { headers })
    case "delete":
      return ask(at, { method: "DELETE", headers })
  }
}

/** The values that the model cannot know: names and secrets that are drawn. */
const drawnFrom = ({ text }: Answer): Drawn => {
  const body: { readonly room?: Drawn; readonly message?: Drawn; readonly token?: string } = JSON.parse(text)
  return { id: body.message?.id ?? body.room?.id ?? "", token: body.token ?? "" }
}

/** Everything an answer says. */
const heard = (answer: Answer, isRefused: boolean) => {
  const body: { readonly error?: { readonly code: string }; readonly retryAfter?: number } = JSON.parse(answer.text)
  const retryAfter = answer.headers.get("retry-after")
  return {
    status: answer.status,
    body: isRefused && body.error !== undefined ? body.error.code : body,
    limits: answer.headers.get("ratelimit"),
    retryAfter: retryAfter === null ? body.retryAfter : Number(retryAfter),
  }
}

const compared = Effect.fnUntraced(function* (url: string, path: string, before: Rooms, request: Request, now: number) {
  const answer = yield* sendTo(url, path, request, before)
  const [after, expected] = step(before, request, now, drawnFrom(answer))
  const { body, limits, retryAfter, status } = heard(answer, typeof expected.body === "string")
  yield* differ(`${request.kind} from ${request.address}`, { status, body, limits, retryAfter }, expected)
  return after
})

/** As many as fit are admitted, in some order, none twice. */
const crowd = Effect.fnUntraced(function* (
  url: string,
  before: Rooms,
  { address, count, room }: Extract<Command, { readonly _tag: "Crowd" }>,
  now: number,
) {
  const requests = Array.from({ length: count }, (_, index): Request => ({
    kind: "send",
    address,
    room,
    content: content(`One of many, ${index}`),
    clientId: "",
    isStranger: false,
  }))
  const answers = yield* Effect.forEach(requests, (request) => sendTo(url, "", request, before), {
    concurrency: "unbounded",
  })
  const told = answers.map((answer, index) => ({ answer, request: requests[index] as Request }))
  // Those that were let in, in the order of their numbers; then those that were not.
  const seqOf = ({ answer }: (typeof told)[number]) => {
    const { message }: { readonly message?: { readonly seq: number } } = JSON.parse(answer.text)
    return message?.seq ?? Number.POSITIVE_INFINITY
  }
  const statusesOf = (list: ReadonlyArray<{ readonly status: number }>) =>
    list.map(({ status }) => status).sort((a, b) => a - b)
  const expected: Array<{ readonly status: number }> = []
  let after = before
  for (const { answer, request } of told.toSorted((a, b) => seqOf(a) - seqOf(b))) {
    const [next, said] = step(after, request, now, drawnFrom(answer))
    after = next
    expected.push(said)
  }
  yield* differ(`${count} sends at once`, statusesOf(answers), statusesOf(expected))
  return after
})

const play = Effect.fnUntraced(function* (commands: ReadonlyArray<Command>) {
  const hands = yield* ControlledClock
  const { publicUrl: url } = yield* AppConfig
  let rooms = none
  for (const command of commands) {
    if (command._tag === "Pass") {
      yield* hands.pass(pauses[command.pause])
      continue
    }
    if (command._tag === "Crowd") {
      rooms = yield* crowd(url, rooms, command, hands.now())
      continue
    }
    const path = command._tag === "Send" || command._tag === "Poll" ? command.path : ""
    // A poll goes on from what it knew at first.
    const request = requestOf(command, rooms)
    if (request === undefined) continue
    const times = "times" in command ? command.times : 1
    for (let turn = 0; turn < times; turn += 1) rooms = yield* compared(url, path, rooms, request, hands.now())
  }
})

export const stories: Play<Command> = {
  name: "rooms",
  command: Arbitrary.schema(Command),
  longest: 40,
  runs: 8,
  play: (commands) =>
    play(commands).pipe(
      Effect.provide(server.pipe(Layer.provideMerge(world), Layer.provideMerge(Logger.layer([])), Layer.orDie)),
    ),
}
