/** Floods of connections and of rooms from many addresses: what they take of memory and rows, and that it is given back. */
import { setTimeout } from "node:timers/promises"
import { Duration } from "effect"
import postgres from "postgres"
import { retained } from "../../../schema/room/Limits.ts"
import { creations, deletions, reads, sends } from "../../../src/room/Limits.ts"
import { bounds } from "../../../src/http/Listener.ts"
import { occupy } from "./Places.ts"
import * as RoomFlood from "./RoomFlood.ts"
import { memoryBound, type Sample, type Target } from "./Target.ts"

export interface Options {
  /** More than a server has places for, where its bound shall be seen. */
  readonly connections: number
  readonly addresses: number
  /** Milliseconds an answer, or what has to become of the rows, may take. */
  readonly patience: number
  readonly log: (line: string) => void
}

/** Sockets and files of the server itself that come and go: its connections to PostgreSQL. */
const slack = 32

type Counts = ReadonlyMap<string, number>

const counting = (sql: postgres.Sql) => async (): Promise<Counts> => {
  const tables = await sql`SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace`
  const counts = tables.map(({ relname }) => `SELECT '${relname}' AS name, count(*)::int AS count FROM "${relname}"`)
  const rows = await sql.unsafe(`${counts.join(" UNION ALL ")} ORDER BY name`)
  return new Map(rows.map(({ name, count }) => [String(name), Number(count)]))
}

/** Tables that have other counts now, each with what it has. */
const changed = (before: Counts, now: Counts) => [...now].filter(([name, count]) => before.get(name) !== count)

const shown = (sample: Sample) => `${sample.resident.toFixed(0)} MB resident, ${sample.files} open files`

export const flood = async (target: Target, { addresses, connections, log: say, patience }: Options) => {
  const sql = postgres(target.databaseUrl, { max: 1, onnotice: () => {} })
  const rows = counting(sql)
  const faults: Array<string> = []
  const counts = { connections, "let in": 0, addresses, rooms: 0, messages: 0 }
  const look = async (what: string) => {
    const sample = await target.sample()
    say(`${what}: ${shown(sample)}`)
    if (sample.resident > memoryBound) faults.push(`${what}: ${sample.resident.toFixed(0)} MB, above ${memoryBound}`)
    return sample
  }
  const until = async (what: string, isSo: () => Promise<boolean>) => {
    for (const end = performance.now() + patience; !(await isSo()); await setTimeout(50))
      if (performance.now() > end) return faults.push(`${what}, even after ${patience / 1000} s`)
  }

  const inConnections = async () => {
    const before = await look("before the connections")
    const began = performance.now()
    const places = await occupy(Number(new URL(target.url).port), connections)
    counts["let in"] = places.open
    say(`${connections} connections of as many addresses: ${places.open} let in, ${places.refused} closed unheard`)
    await look("while they rest")
    const answered = await places.answered()
    if (places.open > bounds.connections) faults.push(`${places.open} were let in, above ${bounds.connections}`)
    const took = performance.now() - began
    const free = Math.min(connections, bounds.connections - slack)
    // On a machine so slow the first have rested too long, and their places were given to others.
    if (took > Duration.toMillis(bounds.rest)) say(`that took ${took.toFixed(0)} ms: some had rested too long`)
    else if (answered < places.open) faults.push(`${places.open - answered} that were let in were not answered again`)
    else if (places.open < free) faults.push(`${places.open} were let in, and there was place for ${free}`)
    places.leave()
    await until("open files of connections that were left stay", async () => {
      const { files } = await target.sample()
      return files <= before.files + slack
    })
    await look("once they have left")
  }

  const inRooms = async () => {
    const empty = await rows()
    const room = await RoomFlood.openRoom(target.url)
    const flooded = await RoomFlood.flood({
      url: target.url,
      addresses,
      patience,
      progress: async (done) => {
        await look(`${done} addresses`)
        await RoomFlood.neighbour(target.url, RoomFlood.poll(room))
      },
    })
    faults.push(...flooded.faults)
    Object.assign(counts, { rooms: flooded.rooms, messages: flooded.messages })
    await look(`${addresses} addresses, ${flooded.rooms} rooms, ${flooded.messages} messages`)
    for (const [name, count] of [...flooded.answers].sort(([one], [other]) => one.localeCompare(other)))
      say(`  ${name.padEnd(34)} ${count}`)
    for (const kind of ["room created", "message sent", "poll with the token"])
      if (!flooded.answers.has(`${kind}: 429`)) faults.push(`${kind}: never refused`)

    const full = await rows()
    /** The neighbour's one room is the one more. */
    const most: Counts = new Map([
      ["rooms", flooded.rooms + 1],
      ["room_messages", Math.min(flooded.messages, flooded.rooms * retained)],
      ["rate_limits", (addresses + 1) * [creations, deletions, reads, sends].length],
    ])
    for (const [name, count] of changed(empty, full)) {
      const bound = most.get(name) ?? empty.get(name) ?? 0
      say(`  rows of ${name.padEnd(26)} ${count}`)
      if (count > bound) faults.push(`${name} has ${count} rows, above ${bound}`)
    }
    return empty
  }

  /** As if rooms had lived and addresses rested long enough; one room is opened after that. */
  const inTime = async (empty: Counts) => {
    await sql`UPDATE rooms SET created_at = created_at - interval '8 days', expires_at = expires_at - interval '8 days'`
    await sql`UPDATE rate_limits SET idle_from = idle_from - interval '3 days'`
    const room = await RoomFlood.openRoom(target.url)
    await RoomFlood.neighbour(target.url, RoomFlood.send(room))
    await target.restart()
    await until("rows of what is over stay", async () => {
      const left = changed(empty, await rows())
      return left.every(([name, count]) => count <= (empty.get(name) ?? 0) + 2)
    })
    await RoomFlood.neighbour(target.url, RoomFlood.poll(room))
    say("a week later, once a server has swept:")
    for (const [name, count] of changed(empty, await rows())) say(`  rows of ${name.padEnd(26)} ${count}`)
  }

  try {
    await inConnections()
    await inTime(await inRooms())
  } finally {
    await sql.end({ timeout: 1 })
  }
  return { counts, faults }
}
