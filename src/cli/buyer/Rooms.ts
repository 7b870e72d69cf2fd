/** Signal rooms by their invites; the token is stored in the journal and sent only to the room's own host. */
import { text } from "node:stream/consumers"
import { Clock, Console, Effect, Option, Schema } from "effect"
import type { Mode, SenderKind } from "../../../schema/room/Message.ts"
import { retained } from "../../../schema/room/Limits.ts"
import { free } from "../../buyer/Buyer.ts"
import { baseOf, make as clientOf } from "../../buyer/Client.ts"
import { refuse } from "../../buyer/PurchaseError.ts"
import { exclusively, pagesOf } from "../../buyer/JournalPages.ts"
import { altarFetch } from "./AltarFetch.ts"
import { plain } from "../Output.ts"
import { type Common, journalOf } from "./Session.ts"

export const Invite = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  url: Schema.String,
  token: Schema.String,
  expiresAt: Schema.String,
  /** The sequence of the newest message shown. */
  seen: Schema.Int,
})
export type Invite = typeof Invite.Type

const invites = pagesOf("room", Invite)

/** The link for people and agents; it contains the secret token. */
export const linkOf = ({ id, token, url }: Invite) => `${url}/signals/#room=${id}&token=${token}`

const link = /^(https?:\/\/.+)\/signals\/?(?:index\.html)?#room=([0-9a-f-]{36})&token=([A-Za-z0-9_-]{43})$/u

const fromLink = (text: string): Invite | undefined => {
  const [, url, id, token] = link.exec(text.trim()) ?? []
  return url === undefined || id === undefined || token === undefined
    ? undefined
    : { id, url: baseOf(url), token, name: "", expiresAt: "", seen: 0 }
}

const stdin = Effect.tryPromise({
  try: () => text(process.stdin),
  catch: () => refuse("no_link", "No invite link came on standard input."),
})

export const open = Effect.fn("Rooms.open")(function* ({ data, insecure }: Pick<Common, "data" | "insecure">) {
  const alone = exclusively(yield* journalOf(data))
  const request = yield* altarFetch()
  const keep = (invite: Invite) => alone((pages) => invites.set(pages, invite.id, invite))

  /** Finds a room by id, by a unique prefix of id or name, or by the invite link; `-` reads it from standard input. */
  const find = Effect.fnUntraced(function* (room: string) {
    const invited = fromLink(room === "-" ? yield* stdin : room)
    const known = yield* alone((pages) => invites.all(pages))
    if (invited !== undefined) return known.find(({ id }) => id === invited.id) ?? invited
    const fitting = known.filter(({ id, name }) => id === room || id.startsWith(room) || name === room)
    const [only, ...others] = fitting
    return only !== undefined && others.length === 0
      ? only
      : yield* refuse(
          "room_unknown",
          only === undefined
            ? `This journal has no room ${plain(room)}: give its invite link once.`
            : `${plain(room)} matches ${fitting.length} rooms: give more of the id.`,
        )
  })

  const roomOf = (invite: Invite) => clientOf(invite.url, { token: invite.token, insecure, fetch: request })

  /** Messages after `after`, or the latest 50; remembers the newest as shown. */
  const read = Effect.fn("Rooms.read")(function* (invite: Invite, after?: number) {
    const client = yield* roomOf(invite)
    const query = after === undefined ? {} : { after }
    const { body } = yield* free(client.rooms.readRoom({ params: { roomId: invite.id }, query }))
    const { expiresAt, latestSequence, name } = body.room
    yield* keep({ ...invite, name, expiresAt, seen: latestSequence })
    return body
  })

  return {
    list: alone((pages) => invites.all(pages)),
    find,
    read,

    create: Effect.fn("Rooms.create")(function* (url: string, name: Option.Option<string>) {
      const client = yield* clientOf(url, { insecure, fetch: request })
      const payload = { name: Option.getOrElse(name, () => "Signal room") }
      const { body } = yield* free(client.rooms.createRoom({ payload }))
      const { expiresAt, id, name: named } = body.room
      const invite: Invite = { id, name: named, url: baseOf(url), token: body.token, expiresAt, seen: 0 }
      yield* keep(invite)
      return { room: body.room, invite }
    }),

    send: Effect.fn("Rooms.send")(function* (
      invite: Invite,
      message: {
        readonly sender: string
        readonly senderKind: typeof SenderKind.Type
        readonly text: string
        readonly mode: typeof Mode.Type
        readonly clientId: string
      },
    ) {
      const client = yield* roomOf(invite)
      const { body } = yield* free(client.rooms.sendMessage({ params: { roomId: invite.id }, payload: message }))
      return body
    }),

    remove: Effect.fn("Rooms.remove")(function* (invite: Invite) {
      const client = yield* roomOf(invite)
      const { body } = yield* free(client.rooms.deleteRoom({ params: { roomId: invite.id } }))
      return body
    }),

    /** Polls every `seconds` until stopped or the room ends. */
    poll: Effect.fn("Rooms.poll")(function* (
      invite: Invite,
      seconds: number,
      render: (message: Effect.Success<ReturnType<typeof read>>["messages"][number]) => string,
    ) {
      let after = invite.seen
      while (true) {
        const started = yield* Clock.currentTimeMillis
        const { messages, room, truncated } = yield* read(invite, after).pipe(
          Effect.retry({ times: 3, while: ({ code }) => code === "unreachable" || code === "RATE_LIMITED" }),
        )
        if (truncated) yield* Console.error(`Some messages are gone: a room keeps its newest ${retained}.`)
        for (const message of messages) yield* Console.log(render(message))
        after = room.latestSequence
        const spent = (yield* Clock.currentTimeMillis) - started
        yield* Effect.sleep(`${Math.max(0, seconds * 1000 - spent)} millis`)
      }
    }),
  }
})

export type Rooms = Effect.Success<ReturnType<typeof open>>
