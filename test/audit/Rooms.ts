/** Checks the rooms: each holds every signal that its members were told of, in order, for the holder of its invite. */
import { hash } from "node:crypto"
import { request, type Json, parsed } from "./Api.ts"
import type { Findings } from "./Findings.ts"
import type { Ledger, RoomRow, SignalRow } from "./Ledger.ts"
import {
  checks,
  contentOf,
  isRow,
  signalsKept,
  lifetime,
  readAnswers,
  type Signal,
  signalsIn,
  type RoomAnswers,
} from "./RoomAnswers.ts"

/** More rooms than members told of are asked for without an invite, the newest: reads are limited. */
const asked = 20

/** Whether the rows of a room are what its head says. */
const auditRows = (room: RoomRow, rows: ReadonlyArray<SignalRow>, isEnded: boolean, found: Findings) => {
  const signals = rows.map(({ body }) => parsed(body) as Signal)
  found.hold(
    checks.bounded,
    rows.length === Math.min(signalsKept, room.latest),
    () => `room ${room.id} holds ${rows.length} signals, and its latest is ${room.latest}`,
  )
  found.hold(
    checks.order,
    isRow(signals, Math.max(0, room.latest - signalsKept) + 1) &&
      rows.every(
        ({ place, sequence }, at) => sequence === signals[at]?.seq && place === ((sequence - 1) % signalsKept) + 1,
      ),
    () => `room ${room.id} holds ${rows.map(({ sequence }) => sequence).join(", ")}, and its latest is ${room.latest}`,
  )
  const keys = room.clientKeys.filter((key) => key !== "")
  found.hold(checks.once, new Set(keys).size === keys.length, () => `two signals of room ${room.id} have one clientId`)
  if (!isEnded && room.expiresAt.getTime() - room.createdAt.getTime() !== lifetime)
    found.violate(checks.end, `room ${room.id} does not live seven days`)
}

/** A room has at most as many messages as were sent clientIds, also where answers were lost. */
const auditNames = (id: string, { names, signals }: RoomAnswers, rows: ReadonlyArray<SignalRow>, found: Findings) => {
  const all = new Map([...signals, ...rows.map(({ body, sequence }) => [sequence, body] as const)])
  const shown = Map.groupBy(all.values(), (signal) => contentOf(parsed(signal) as Json))
  for (const [content, sent] of names) {
    const times = shown.get(content)?.length ?? 0
    found.hold(
      checks.once,
      sent.has(undefined) || times <= sent.size,
      () => `room ${id} has ${times} signals ${content}, which was sent under ${sent.size} clientIds`,
    )
  }
}

const read = (server: string, id: string, token?: string) =>
  request(`${server}/api/rooms/${id}`, token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } })

/** The stored state of a clientId. */
const keyOf = (client: string) => hash("sha256", client).slice(0, 32)

/** Another token of the same form. */
const otherThan = (token: string) => `${token.startsWith("A") ? "B" : "A"}${token.slice(1)}`

/** `isOver`: its end has come, so that it may have been swept since its row was read. */
const holdsShut = async (
  server: string,
  { id, isOver, tokens }: { readonly id: string; readonly isOver: boolean; readonly tokens: ReadonlyArray<string> },
  found: Findings,
) => {
  for (const token of [undefined, ...tokens]) {
    const { status, text } = await read(server, id, token)
    found.hold(
      checks.invite,
      (status === 401 || (isOver && status === 404)) && !text.includes('"messages"'),
      () => `${server} answers ${status} when room ${id} is read with ${token === undefined ? "no" : "another"} invite`,
    )
  }
}

export const auditRooms = async (
  target: {
    readonly answersFile: string | null
    readonly servers: ReadonlyArray<string>
    readonly ended: ReadonlySet<string>
  },
  ledger: Ledger,
  found: Findings,
) => {
  const { answersFile, ended, servers } = target
  const [server = ""] = servers
  const rows = new Map(ledger.rooms.map((one) => [one.id, one]))
  const signals = Map.groupBy(ledger.signals, ({ room }) => room)
  for (const room of ledger.rooms) auditRows(room, signals.get(room.id) ?? [], ended.has(room.id), found)
  const newest = [...ledger.rooms].sort((a, b) => b.createdAt.getTime() - a.createdAt.getTime())
  for (const { expiresAt, id } of newest.slice(0, asked)) {
    const isOver = expiresAt.getTime() <= Date.now()
    await holdsShut(server, { id, isOver, tokens: [otherThan(id.padEnd(43, "A"))] }, found)
  }

  const rooms = answersFile === null ? [] : [...(await readAnswers(answersFile, found))]
  for (const [at, [id, told]] of rooms.entries()) {
    const one = servers[at % servers.length] ?? server
    const { status, text } = await read(one, id, told.token)
    const row = rows.get(id)
    auditNames(id, told, signals.get(id) ?? [], found)
    const isOver = ended.has(id) || told.expiresAt <= Date.now()
    if (told.goneAt !== undefined)
      found.hold(checks.end, told.isDeleted || isOver, () => `${told.goneBy}, but its room had not ended`)
    if (told.goneAt !== undefined || isOver) {
      // An expired room may wait for its sweep; a deleted one may not.
      const isGone = told.goneAt === undefined || row === undefined || row.expiresAt.getTime() <= Date.now()
      found.hold(
        checks.end,
        isGone && (status === 404 || status === 410),
        () =>
          `room ${id} has ended, but ${one} answers ${status}, and its row is ${row === undefined ? "not there" : "there"}`,
      )
      continue
    }
    found.hold(checks.end, status === 200 && row !== undefined, () => `${one} answers ${status} to room ${id}`)
    if (status !== 200 || row === undefined) continue
    found.hold(
      checks.invite,
      hash("sha256", told.token, "buffer").equals(row.digest),
      () => `room ${id} is opened by another invite than its members have`,
    )
    const others = rooms.map(([, { token }]) => token).filter((token) => token !== told.token)
    await holdsShut(one, { id, isOver: false, tokens: [otherThan(told.token), ...others.slice(0, 1)] }, found)
    const now = new Map(signalsIn(JSON.parse(text)).map((signal) => [signal.seq, JSON.stringify(signal)]))
    found.hold(
      checks.bounded,
      now.size <= signalsKept && now.size === Math.min(signalsKept, row.latest),
      () => `${one} shows ${now.size} signals of room ${id}, and its latest is ${row.latest}`,
    )
    for (const [client, { seq }] of told.clients) {
      const key = row.clientKeys[(seq - 1) % signalsKept]?.replaceAll("-", "")
      found.hold(
        checks.once,
        seq <= row.latest - signalsKept || key === keyOf(client),
        () => `room ${id} does not know that signal ${seq} is the one of ${client}`,
      )
    }
    for (const [seq, signal] of told.signals) {
      found.hold(
        checks.sent,
        seq <= row.latest && (seq <= row.latest - signalsKept || now.get(seq) === signal),
        () => `${signal} was signal ${seq} of room ${id}; now ${now.get(seq) ?? "there is none"}`,
      )
    }
  }
}
