/** Polls and sends of the signal room beside a plain Hono and postgres.js server that asks the database for each thing. */
import { createHash, randomBytes, randomUUID } from "node:crypto"
import postgres from "postgres"
import { fire, type Shot } from "./Load.ts"
import { type Figure, type Held, rates, type Side, type Sides, sliceOf, takeTurns } from "./Measure.ts"
import type { Servers } from "./Servers.ts"

const token = randomBytes(32).toString("base64url")
const digest = createHash("sha256").update(token).digest()

/** Callers in turn, so many that none meets a limit, and as many as poll a busy server. */
const callers = 8_000
let requests = 0
const headers = () => {
  const caller = requests++ % callers
  return { authorization: `Bearer ${token}`, "x-forwarded-for": `10.0.${caller >> 8}.${caller & 255}` }
}

const kept = 50
/** A room takes 30 new messages a minute: no slice may send one more than that. */
const perRoom = 20

type Sql = ReturnType<typeof postgres>

const createPeerTables = async (sql: Sql) => {
  await sql`CREATE TABLE peer_rooms (id uuid PRIMARY KEY, name text NOT NULL, token_digest bytea NOT NULL,
    created_at timestamptz(3) NOT NULL, expires_at timestamptz(3) NOT NULL, latest_sequence integer NOT NULL)`
  await sql`CREATE TABLE peer_messages (id uuid NOT NULL, room_id uuid NOT NULL, seq integer NOT NULL,
    sender text NOT NULL, sender_kind text NOT NULL, text text NOT NULL, mode text NOT NULL,
    created_at timestamptz(3) NOT NULL, PRIMARY KEY (room_id, seq))`
  await sql`CREATE UNLOGGED TABLE peer_limits (key text PRIMARY KEY, n integer NOT NULL)`
}

/** Puts rooms with old messages into a database, as if they had been sent. */
const seed = async (sql: Sql, side: Side, ids: ReadonlyArray<string>) => {
  if (side === "ours") {
    await sql`INSERT INTO rooms (id, name, token_digest, created_at, expires_at, latest_sequence)
      SELECT id, 'Room', ${digest}, now(), now() + interval '7 days', ${kept} FROM unnest(${[...ids]}::uuid[]) AS id`
    await sql`INSERT INTO room_messages (room_id, place, sequence, body)
      SELECT id, n, n, json_build_object('id', gen_random_uuid(), 'seq', n, 'sender', 'Wren', 'senderKind', 'person',
        'text', 'The build is green, and the tests are too.', 'mode', 'calm', 'createdAt', '2026-11-21T09:17:02.115Z')::text
      FROM unnest(${[...ids]}::uuid[]) AS id, generate_series(1, ${kept}::int) AS n`
    return
  }
  await sql`INSERT INTO peer_rooms SELECT id, 'Room', ${digest}, now(), now() + interval '7 days', ${kept}
    FROM unnest(${[...ids]}::uuid[]) AS id`
  await sql`INSERT INTO peer_messages
    SELECT gen_random_uuid(), id, n, 'Wren', 'person', 'The build is green, and the tests are too.', 'calm',
      '2026-11-21T09:17:02.115Z'
    FROM unnest(${[...ids]}::uuid[]) AS id, generate_series(1, ${kept}::int) AS n`
}

const pick = (ids: ReadonlyArray<string>) => ids[Math.floor(Math.random() * ids.length)] ?? ""

const pollOf = (ids: ReadonlyArray<string>, after: number) => (): Shot => ({
  method: "GET",
  path: `/api/rooms/${pick(ids)}?after=${after}`,
  headers: headers(),
})

const body = JSON.stringify({ sender: "Wren", text: "The build is green, and the tests are too.", mode: "spark" })

const sendOf = (ids: ReadonlyArray<string>): (() => Shot) => {
  let next = 0
  return () => ({
    method: "POST",
    path: `/api/rooms/${ids[next++ % ids.length] ?? ""}/messages`,
    headers: { ...headers(), "content-type": "application/json" },
    body,
  })
}

export const run = async (
  chosen: ReadonlyArray<string>,
  held: Held,
  { databases, serve }: Servers,
): Promise<ReadonlyArray<Figure>> => {
  const connect = (url: string) => postgres(url, { max: 2, onnotice: () => {} })
  const sql = { ours: connect(databases.ours), peer: connect(databases.peer) }
  try {
    held.say("Preparing rooms")
    await createPeerTables(sql.peer)
    const sides: Sides = {
      ours: await serve("ours", { DATABASE_URL: databases.ours, TRUSTED_PROXIES: "127.0.0.1" }),
      peer: await serve("peer/PeerRooms.ts", { DATABASE_URL: databases.peer }),
    }

    const newRooms = async (side: Side, count: number, ids = Array.from({ length: count }, () => randomUUID())) => {
      await seed(sql[side], side, ids)
      await sql[side]`VACUUM ANALYZE`
      return ids
    }

    const polled = await newRooms("ours", 100)
    await newRooms("peer", 100, polled)
    for (const side of ["ours", "peer"] as const) {
      const shot = pollOf(polled, kept - 10)()
      const { messages } = await (await fetch(sides[side] + shot.path, { headers: shot.headers ?? {} })).json()
      if (messages?.length !== 10) throw new Error(`${side} does not answer ten messages`)
    }

    /** Into 100 rooms of their own for each slice, made before it is measured, or 10,000 that all slices use. */
    const sendInto = async (rooms: number) => {
      const into = async (side: Side) => sendOf(await newRooms(side, rooms))
      const many = rooms > 100 ? { ours: await into("ours"), peer: await into("peer") } : undefined
      return async (side: Side) => {
        const shot = many?.[side] ?? (await into(side))
        return sliceOf(() => fire(sides[side], { count: Math.min(rooms * perRoom, 4_000) }, 201, shot), sides[side])
      }
    }

    const figures: Array<Figure> = []
    for (const name of chosen) {
      held.say(`  ${name}`)
      const [, rooms] = /^send(\d+)$/u.exec(name) ?? []
      const shots = () => pollOf(polled, name === "poll10" ? kept - 10 : kept)
      figures.push(
        rooms === undefined
          ? await rates(name, held, sides, 200, shots)
          : { name, rounds: await takeTurns(held.rounds, await sendInto(Number(rooms))) },
      )
    }
    return figures
  } finally {
    await Promise.all([sql.ours.end(), sql.peer.end()])
  }
}
