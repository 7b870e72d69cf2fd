/** The signal room's promises, as a pure function: a request, what the server drew at random for it, and its whole answer. */
import { headerOf, type Hits, isFull, type Left, left, limits, waitOf } from "./Windows.ts"

const lifetimeMillis = 7 * 86_400_000
const retained = 50

export interface Message {
  readonly id: string
  readonly seq: number
  readonly sender: string
  readonly senderKind: "person" | "agent"
  readonly text: string
  readonly mode: string
  readonly createdAt: string
}

interface Kept {
  readonly message: Message
  readonly clientId: string
}

export interface Room {
  readonly id: string
  readonly token: string
  readonly name: string
  readonly createdAt: number
  readonly latest: number
  readonly kept: ReadonlyArray<Kept>
  /** When its messages came. */
  readonly sent: ReadonlyArray<number>
  readonly isDeleted: boolean
}

export interface Rooms {
  readonly rooms: ReadonlyArray<Room>
  /** By address and limit. */
  readonly addresses: Readonly<Record<string, Hits>>
}

export const none: Rooms = { rooms: [], addresses: {} }

/** A request, where an empty text is left out; `room` is its place in the order of creation, and no room where there is none. */
export type Request = { readonly address: string; readonly room: number; readonly isStranger: boolean } & (
  | { readonly kind: "create"; readonly name: string }
  | { readonly kind: "send"; readonly content: Pick<Message, "sender" | "text" | "mode">; readonly clientId: string }
  | { readonly kind: "poll"; readonly after: number }
  | { readonly kind: "delete" }
)

/** The server's random values for this answer. */
export interface Drawn {
  readonly id: string
  readonly token: string
}

export interface Expected {
  readonly status: number
  /** The whole body, or the code of a refusal. */
  readonly body: object | string
  /** Null where the room refused. */
  readonly limits: string | null
  readonly retryAfter: number | undefined
}

const limitOf = { create: "creations", send: "sends", poll: "reads", delete: "deletions" } as const

const shown = ({ createdAt, id, latest, name }: Room) => ({
  id,
  name,
  createdAt: new Date(createdAt).toISOString(),
  expiresAt: new Date(createdAt + lifetimeMillis).toISOString(),
  latestSequence: latest,
})

/** A request's effect at a moment, and its answer. */
export const step = (before: Rooms, request: Request, now: number, drawn: Drawn): readonly [Rooms, Expected] => {
  const { address, kind } = request
  const limit = limitOf[kind]
  const hits = before.addresses[address]?.[limit] ?? []
  const own = left(limits[limit], hits, now)
  const refused = (lefts: ReadonlyArray<Left>): readonly [Rooms, Expected] => [
    before,
    { status: 429, body: "RATE_LIMITED", limits: headerOf(lefts), retryAfter: waitOf(lefts) },
  ]
  const room = before.rooms[request.room]
  const isThere = kind !== "create" && room !== undefined && !room.isDeleted
  const isOpen = isThere && !request.isStranger
  const isOver = isOpen && now >= room.createdAt + lifetimeMillis

  const clientId = kind === "send" ? request.clientId : ""
  const original = isOpen && clientId !== "" ? room.kept.find((one) => one.clientId === clientId) : undefined
  const isNew = kind === "send" && isOpen && !isOver && original === undefined
  const inRoom = (sent: ReadonlyArray<number>) => left(limits.messages, sent, now)
  /** A refused request consumes nothing, and its answer has no limits. */
  const denied = (status: number, body: string): readonly [Rooms, Expected] => [
    before,
    { status, body, limits: null, retryAfter: undefined },
  ]
  if (kind !== "create") {
    if (!isThere) return denied(404, "NOT_FOUND")
    if (!isOpen) return denied(401, "UNAUTHORIZED")
    if (isOver) return denied(410, "EXPIRED")
  }
  if (kind === "send" && original !== undefined) {
    const { mode, sender, text } = original.message
    const { content } = request
    if (mode !== content.mode || sender !== content.sender || text !== content.text) return denied(409, "CONFLICT")
  }
  if (isNew && isFull(inRoom(room.sent))) return refused([...own, ...inRoom(room.sent)])
  if (isFull(own)) return refused(own)

  const counted = [...hits, now]
  const addresses = { ...before.addresses, [address]: { ...before.addresses[address], [limit]: counted } }
  const rest = left(limits[limit], counted, now)
  const roomRest = kind === "send" && room !== undefined ? inRoom(isNew ? [...room.sent, now] : room.sent) : []
  const answered = (
    status: number,
    body: object,
    rooms: ReadonlyArray<Room> = before.rooms,
  ): readonly [Rooms, Expected] => [
    { rooms, addresses },
    { status, body, limits: headerOf([...rest, ...roomRest]), retryAfter: undefined },
  ]
  const replaced = (changed: Room) => before.rooms.map((one) => (one === room ? changed : one))

  if (kind === "create") {
    const name = request.name === "" ? "Signal room" : request.name
    const made: Room = { ...drawn, name, createdAt: now, latest: 0, kept: [], sent: [], isDeleted: false }
    return answered(201, { room: shown(made), token: drawn.token }, [...before.rooms, made])
  }
  if (room === undefined) return denied(404, "NOT_FOUND")
  switch (kind) {
    case "delete":
      return answered(200, { deleted: true }, replaced({ ...room, isDeleted: true }))
    case "poll": {
      const { after } = request
      const messages = room.kept.map(({ message }) => message).filter(({ seq }) => seq > after)
      const truncated = after > 0 && after < room.latest - retained
      return answered(200, { room: shown(room), messages, truncated, serverTime: new Date(now).toISOString() })
    }
    case "send": {
      const { content } = request
      if (original !== undefined)
        return answered(200, { message: original.message, room: shown(room), duplicate: true })
      const seq = room.latest + 1
      const createdAt = new Date(now).toISOString()
      const message: Message = { id: drawn.id, seq, ...content, senderKind: "person", createdAt }
      const kept = [...room.kept, { message, clientId }].slice(-retained)
      const changed = { ...room, latest: seq, kept, sent: [...room.sent, now] }
      return answered(201, { message, room: shown(changed), duplicate: false }, replaced(changed))
    }
  }
}
