/** What members of signal rooms were told, and what the rooms hold now: every signal, in order, for whoever has the invite. */
import { hash } from "node:crypto"
import { hear, isObject, type Json, parsed, textAt } from "./Api.ts"
import type { Findings } from "./Findings.ts"
import { answersOf, type ReadAnswer } from "./Given.ts"
import type { Ledger, RoomRow, SignalRow } from "./Ledger.ts"

/** A room keeps its newest signals, and lives so long, milliseconds. */
const kept = 50
const lifetime = 7 * 86_400_000

/** More rooms than members told of are asked for without an invite, the newest: reads are limited. */
const asked = 20

const checks = {
  sent: "a signal that was sent is in its room, as it was sent",
  once: "a clientId is one signal",
  order: "the signals of a room follow each other without gaps",
  bounded: "a room keeps its newest fifty signals",
  fresh: "a poll shows what had been answered before it was asked",
  invite: "nobody reads a room without its invite",
  end: "a room is there until its end, and gone after it",
}

interface Signal {
  readonly id: string
  readonly seq: number
  readonly createdAt: string
}

/** What members know of a room. */
interface Told {
  readonly token: string
  readonly expiresAt: number
  /** JSON of each signal that was shown, by its sequence. */
  readonly signals: Map<number, string>
  /** The newest sequence that had been answered, and when. */
  readonly newest: Array<{ readonly at: number; readonly seq: number }>
  readonly clients: Map<string, { readonly content: string; readonly id: string; readonly seq: number }>
  /** As what each content was sent, whatever was answered: its clientIds, and none. */
  readonly names: Map<string, Set<string | undefined>>
  /** When it was first said to be no more. */
  goneAt: number | undefined
  /** What said so. */
  goneBy: string
  /** Whether a member has deleted it, whichever answer came of that. */
  isDeleted: boolean
}

const roomPath = /^\/api\/rooms(?:\/([0-9a-f-]{36})(?:\/(messages|stream))?)?$/u

const signalsIn = (body: Json): ReadonlyArray<Signal> =>
  [body["message"], body["messages"]].flat().filter(isObject) as unknown as ReadonlyArray<Signal>

const contentOf = ({ mode, sender, senderKind = "person", text }: Json) =>
  JSON.stringify([sender, senderKind, text, mode])

/** Whether they are a row of signals, each one later than the one before; from `first` on where that is known. */
const isRow = (signals: ReadonlyArray<Signal>, first = signals[0]?.seq) =>
  signals.every(({ createdAt, seq }, at) => {
    const before = signals[at - 1]
    return seq === (first ?? 0) + at && (before === undefined || before.createdAt <= createdAt)
  })

/** Goes through what was answered, in the order in which it came, and says what members know in the end. */
const readAnswers = async (file: string, found: Findings): Promise<ReadonlyMap<string, Told>> => {
  const rooms = new Map<string, Told>()

  const heardOfSend = (room: Told, { sent, status, where }: ReadAnswer, [signal]: ReadonlyArray<Signal>) => {
    if (!isObject(sent) || signal === undefined) return found.violate(checks.sent, `${where} without a signal`)
    const content = contentOf(sent)
    found.hold(
      checks.sent,
      contentOf({ ...signal }) === content,
      () => `${where} with signal ${signal.seq}, which is not what was sent`,
    )
    const client = textAt(sent, "clientId")
    if (client === undefined) return undefined
    const known = room.clients.get(client)
    const isNew = known === undefined || signal.seq - known.seq >= kept
    found.hold(
      checks.once,
      isNew || (known.id === signal.id && status === 200),
      () => `${where} with signal ${signal.seq} for ${client}, which is signal ${known?.seq}`,
    )
    if (isNew) room.clients.set(client, { content, id: signal.id, seq: signal.seq })
    return undefined
  }

  const heardOfPoll = (room: Told, answer: ReadAnswer, body: Json, signals: ReadonlyArray<Signal>) => {
    const { where } = answer
    const { searchParams } = new URL(answer.url, answer.server)
    const after = Number(searchParams.get("after") ?? 0)
    const latest = Number(isObject(body["room"]) ? body["room"]["latestSequence"] : Number.NaN)
    const first = Math.max(after, latest - kept) + 1
    const count = Math.max(0, latest - first + 1)
    found.hold(
      checks.order,
      signals.length === count && isRow(signals, first) && body["truncated"] === (after > 0 && first > after + 1),
      () => `${where} to ${after} with ${signals.length} signals from ${signals[0]?.seq}, and the latest is ${latest}`,
    )
    if (answer.askedAt === undefined) return
    const since = answer.askedAt
    const before = room.newest.findLast(({ at }) => at < since)?.seq ?? 0
    found.hold(
      checks.fresh,
      latest >= before,
      () => `${where} with ${latest} as the latest, but signal ${before} had been answered before`,
    )
  }

  for await (const answer of answersOf(file)) {
    const [path, id = "", below] = roomPath.exec(answer.path) ?? []
    if (path === undefined) continue
    const { isGood, json: body, sent, where } = answer
    if (id === "") {
      const [made, token] = [textAt(body, "room", "id"), textAt(body, "token")]
      if (!isGood || made === undefined || token === undefined) continue
      const [from, until] = ["createdAt", "expiresAt"].map((name) => Date.parse(textAt(body, "room", name) ?? ""))
      found.hold(checks.end, Number(until) - Number(from) === lifetime, () => `${where}: it does not live seven days`)
      rooms.set(made, {
        token,
        expiresAt: Number(until),
        signals: new Map(),
        newest: [],
        clients: new Map(),
        names: new Map(),
        goneAt: undefined,
        goneBy: "",
        isDeleted: false,
      })
      continue
    }
    const room = rooms.get(id)
    if (room === undefined) continue
    if (below === "messages" && isObject(sent)) {
      const names = room.names.get(contentOf(sent)) ?? new Set()
      room.names.set(contentOf(sent), names.add(textAt(sent, "clientId")))
    }
    if (answer.status === 401)
      found.hold(checks.invite, answer.invite !== room.token, () => `${where} to whoever has its invite`)
    if (answer.status === 409) {
      const known = room.clients.get(textAt(sent, "clientId") ?? "")
      const isSame = isObject(sent) && known?.content === contentOf(sent)
      found.hold(checks.once, !isSame, () => `${where}, but this clientId was sent with the same content`)
    }
    const isDeletion = answer.method === "DELETE"
    if ((isGood && isDeletion) || ([404, 410].includes(answer.status) && answer.invite === room.token)) {
      // That it was deleted may have been answered to nobody, and so be seen before anybody said it.
      if (isDeletion) room.isDeleted = true
      if (room.goneAt === undefined) Object.assign(room, { goneAt: answer.at, goneBy: where })
    }
    if (!isGood || isDeletion || !isObject(body)) continue
    found.hold(checks.invite, answer.invite === room.token, () => `${where} to somebody without its invite`)
    const isLate = answer.askedAt !== undefined && room.goneAt !== undefined && answer.askedAt > room.goneAt
    found.hold(checks.end, !isLate, () => `${where}, but it had been gone before`)
    const signals = signalsIn(body)
    for (const signal of signals) {
      const text = JSON.stringify(signal)
      const other = room.signals.get(signal.seq)
      if (other !== undefined && other !== text)
        found.violate(checks.sent, `${where} with ${text} as signal ${signal.seq}, which was ${other}`)
      room.signals.set(signal.seq, text)
    }
    if (answer.method === "POST" && below !== "stream") heardOfSend(room, answer, signals)
    else heardOfPoll(room, answer, body, signals)
    const seq = Math.max(room.newest.at(-1)?.seq ?? 0, ...signals.map((one) => one.seq))
    room.newest.push({ at: answer.at, seq })
  }
  return rooms
}

/** Whether the rows of a room are what its head says. */
const auditRows = (room: RoomRow, rows: ReadonlyArray<SignalRow>, isEnded: boolean, found: Findings) => {
  const signals = rows.map(({ body }) => parsed(body) as Signal)
  found.hold(
    checks.bounded,
    rows.length === Math.min(kept, room.latest),
    () => `room ${room.id} holds ${rows.length} signals, and its latest is ${room.latest}`,
  )
  found.hold(
    checks.order,
    isRow(signals, Math.max(0, room.latest - kept) + 1) &&
      rows.every(({ place, sequence }, at) => sequence === signals[at]?.seq && place === ((sequence - 1) % kept) + 1),
    () => `room ${room.id} holds ${rows.map(({ sequence }) => sequence).join(", ")}, and its latest is ${room.latest}`,
  )
  const keys = room.clientKeys.filter((key) => key !== "")
  found.hold(checks.once, new Set(keys).size === keys.length, () => `two signals of room ${room.id} have one clientId`)
  if (!isEnded && room.expiresAt.getTime() - room.createdAt.getTime() !== lifetime)
    found.violate(checks.end, `room ${room.id} does not live seven days`)
}

/** What was sent under so many clientIds is there as often at most, also where what was answered never arrived. */
const auditNames = (id: string, { names, signals }: Told, rows: ReadonlyArray<SignalRow>, found: Findings) => {
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
  hear(`${server}/api/rooms/${id}`, token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } })

/** What a room remembers of a clientId. */
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
      // What has expired may wait to be swept; what was deleted may not.
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
      now.size <= kept && now.size === Math.min(kept, row.latest),
      () => `${one} shows ${now.size} signals of room ${id}, and its latest is ${row.latest}`,
    )
    for (const [client, { seq }] of told.clients) {
      const key = row.clientKeys[(seq - 1) % kept]?.replaceAll("-", "")
      found.hold(
        checks.once,
        seq <= row.latest - kept || key === keyOf(client),
        () => `room ${id} does not know that signal ${seq} is the one of ${client}`,
      )
    }
    for (const [seq, signal] of told.signals) {
      found.hold(
        checks.sent,
        seq <= row.latest && (seq <= row.latest - kept || now.get(seq) === signal),
        () => `${signal} was signal ${seq} of room ${id}; now ${now.get(seq) ?? "there is none"}`,
      )
    }
  }
}
