/** The answers to members of signal rooms, in order, and their final knowledge of their rooms. */
import { isObject, type Json, textAt } from "./Api.ts"
import type { Findings } from "./Findings.ts"
import { answersOf, type ReadAnswer } from "./RecordedAnswers.ts"

/** A room keeps its newest signals, and lives so long, milliseconds. */
export const signalsKept = 50
export const lifetime = 7 * 86_400_000

export const checks = {
  sent: "a signal that was sent is in its room, as it was sent",
  once: "a clientId is one signal",
  order: "the signals of a room follow each other without gaps",
  bounded: "a room keeps its newest fifty signals",
  fresh: "a poll shows what had been answered before it was asked",
  invite: "nobody reads a room without its invite",
  end: "a room is there until its end, and gone after it",
}

export interface Signal {
  readonly id: string
  readonly seq: number
  readonly createdAt: string
}

/** The members' knowledge of a room. */
export interface RoomAnswers {
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
  /** The source. */
  goneBy: string
  /** Whether a member has deleted it, whichever answer came of that. */
  isDeleted: boolean
}

const roomPath = /^\/api\/rooms(?:\/([0-9a-f-]{36})(?:\/(messages|stream))?)?$/u

export const signalsIn = (body: Json): ReadonlyArray<Signal> =>
  [body["message"], body["messages"]].flat().filter(isObject) as unknown as ReadonlyArray<Signal>

export const contentOf = ({ mode, sender, senderKind = "person", text }: Json) =>
  JSON.stringify([sender, senderKind, text, mode])

/** Whether they are a row of signals, each one later than the one before; from `first` on where that is known. */
export const isRow = (signals: ReadonlyArray<Signal>, first = signals[0]?.seq) =>
  signals.every(({ createdAt, seq }, at) => {
    const before = signals[at - 1]
    return seq === (first ?? 0) + at && (before === undefined || before.createdAt <= createdAt)
  })

/** Goes through what was answered, in the order in which it came, and says what members know in the end. */
export const readAnswers = async (file: string, found: Findings): Promise<ReadonlyMap<string, RoomAnswers>> => {
  const rooms = new Map<string, RoomAnswers>()

  const heardOfSend = (room: RoomAnswers, { sent, status, where }: ReadAnswer, [signal]: ReadonlyArray<Signal>) => {
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
    const isNew = known === undefined || signal.seq - known.seq >= signalsKept
    found.hold(
      checks.once,
      isNew || (known.id === signal.id && status === 200),
      () => `${where} with signal ${signal.seq} for ${client}, which is signal ${known?.seq}`,
    )
    if (isNew) room.clients.set(client, { content, id: signal.id, seq: signal.seq })
    return undefined
  }

  const heardOfPoll = (room: RoomAnswers, answer: ReadAnswer, body: Json, signals: ReadonlyArray<Signal>) => {
    const { where } = answer
    const { searchParams } = new URL(answer.url, answer.server)
    const after = Number(searchParams.get("after") ?? 0)
    const latest = Number(isObject(body["room"]) ? body["room"]["latestSequence"] : Number.NaN)
    const first = Math.max(after, latest - signalsKept) + 1
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
      // The answer to a deletion may have been lost, so its effect may be seen first.
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
