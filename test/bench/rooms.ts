/** Measures polls and sends of the signal room beside a plain Hono and postgres.js server, in one run, turn by turn. */
import { createHash, randomBytes, randomUUID } from "node:crypto"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"
import postgres from "postgres"
import * as Databases from "./Databases.ts"
import { ask, connect, type Connections, fire, inFlight, type Shot } from "./Load.ts"
import { cpuSeconds, freePort, type Served, start } from "./Processes.ts"
import { type Side, type Slice, slice, takeTurns } from "./Rounds.ts"
import { median, type Row, table } from "./Table.ts"

const help = `Usage: node test/bench/rooms.ts [--quick]

Compares this server with a peer built from Hono, @hono/node-server and postgres.js that asks the database once for each
thing it has to know. Same PostgreSQL, same load: ${inFlight} requests in flight over keep-alive connections. Rates and
ratios are medians of rounds.

  --quick  2 rounds instead of 5
  --help   this text
`

const { values } = parseArgs({ options: { help: { type: "boolean" }, quick: { type: "boolean" } } })
if (values.help === true) {
  console.log(help)
  process.exit(0)
}
const rounds = values.quick === true ? 2 : 5
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(1))

const token = randomBytes(32).toString("base64url")
const digest = createHash("sha256").update(token).digest()
const file = (path: string) => fileURLToPath(new URL(path, import.meta.url))

/** Callers in turn, so many that none meets a limit. */
const callers = 5000
let requests = 0
const headers = () => {
  const caller = requests++ % callers
  return { authorization: `Bearer ${token}`, "x-forwarded-for": `10.0.${caller >> 8}.${caller & 255}` }
}

const databases = await Databases.open()
const served: Array<Served> = []
const port = await freePort()
const ours = await start([file("../../src/start.js"), "serve"], {
  DATABASE_URL: databases.ours,
  PORT: String(port),
  TRUSTED_PROXIES: "127.0.0.1",
  LOG_LEVEL: "None",
})
served.push(ours)
const sql = {
  ours: postgres(databases.ours, { max: 2, onnotice: () => {} }),
  peer: postgres(databases.peer, { max: 2, onnotice: () => {} }),
}
await sql.peer`CREATE TABLE peer_rooms (id uuid PRIMARY KEY, name text NOT NULL, token_digest bytea NOT NULL,
  created_at timestamptz(3) NOT NULL, expires_at timestamptz(3) NOT NULL, latest_sequence integer NOT NULL)`
await sql.peer`CREATE TABLE peer_messages (id uuid NOT NULL, room_id uuid NOT NULL, seq integer NOT NULL,
  sender text NOT NULL, sender_kind text NOT NULL, text text NOT NULL, mode text NOT NULL,
  created_at timestamptz(3) NOT NULL, PRIMARY KEY (room_id, seq))`
await sql.peer`CREATE UNLOGGED TABLE peer_limits (key text PRIMARY KEY, n integer NOT NULL)`
const peer = await start([file("peer/Rooms.ts")], { DATABASE_URL: databases.peer })
served.push(peer)

const contest: Readonly<Record<Side, { readonly pid: number; readonly to: Connections }>> = {
  ours: { pid: ours.pid, to: connect(`http://127.0.0.1:${port}`) },
  peer: { pid: peer.pid, to: connect(peer.url) },
}

/** Puts rooms with old messages into both databases, as if they had been sent. */
const seed = async (side: Side, ids: ReadonlyArray<string>, messages: number) => {
  const db = sql[side]
  if (side === "ours") {
    await db`INSERT INTO rooms (id, name, token_digest, created_at, expires_at, latest_sequence)
      SELECT id, 'Room', ${digest}, now(), now() + interval '7 days', ${messages} FROM unnest(${[...ids]}::uuid[]) AS id`
    await db`INSERT INTO room_messages (room_id, place, sequence, body)
      SELECT id, n, n, json_build_object('id', gen_random_uuid(), 'seq', n, 'sender', 'Wren', 'senderKind', 'person',
        'text', 'The build is green, and the tests are too.', 'mode', 'calm', 'createdAt', '2026-11-21T09:17:02.115Z')::text
      FROM unnest(${[...ids]}::uuid[]) AS id, generate_series(1, ${messages}::int) AS n`
    return
  }
  await db`INSERT INTO peer_rooms SELECT id, 'Room', ${digest}, now(), now() + interval '7 days', ${messages}
    FROM unnest(${[...ids]}::uuid[]) AS id`
  await db`INSERT INTO peer_messages
    SELECT gen_random_uuid(), id, n, 'Wren', 'person', 'The build is green, and the tests are too.', 'calm',
      '2026-11-21T09:17:02.115Z'
    FROM unnest(${[...ids]}::uuid[]) AS id, generate_series(1, ${messages}::int) AS n`
}

const newRooms = async (count: number, messages: number, sides: ReadonlyArray<Side> = ["ours", "peer"]) => {
  const ids = Array.from({ length: count }, () => randomUUID())
  for (const side of sides) {
    await seed(side, ids, messages)
    await sql[side]`VACUUM ANALYZE`
  }
  return ids
}

const pick = (ids: ReadonlyArray<string>) => ids[Math.floor(Math.random() * ids.length)] ?? ""

const run = (side: Side, count: number, expected: number, shot: () => Shot): Promise<Slice> =>
  slice(
    count,
    () => cpuSeconds(contest[side].pid),
    () => fire(contest[side].to, count, expected, shot),
  )

const rows: Array<Row> = []
const measure = async (what: string, ratio: number, one: (side: Side) => Promise<Slice>) => {
  rows.push({ what, rounds: await takeTurns(rounds, one), wanted: { ratio } })
  process.stderr.write(
    `  ${what}: ${rows
      .at(-1)
      ?.rounds.map((r) => (r.ours.rate / r.peer.rate).toFixed(2))
      .join(" ")}\n`,
  )
}

const pollOf = (ids: ReadonlyArray<string>, after: number) => (): Shot => ({
  method: "GET",
  path: `/api/rooms/${pick(ids)}?after=${after}`,
  headers: headers(),
})

const body = JSON.stringify({ sender: "Wren", text: "The build is green, and the tests are too.", mode: "spark" })

try {
  const ids = await newRooms(100, 50)
  for (const side of ["ours", "peer"] as const) {
    const { text } = await ask(contest[side].to, pollOf(ids, 40)())
    const polled: { readonly messages: ReadonlyArray<unknown> } = JSON.parse(text)
    if (polled.messages.length !== 10) throw new Error(`${side} answers ${text}`)
  }
  await measure("polls, 50 kept, 0 new", 2, (side) => run(side, 4000, 200, pollOf(ids, 50)))
  await measure("polls, 50 kept, 10 new", 2, (side) => run(side, 4000, 200, pollOf(ids, 40)))
  await measure("polls, 50 kept, 50 new", 2, (side) => run(side, 3000, 200, pollOf(ids, 0)))
  await measure("sends over 100 rooms", 1.5, async (side) => {
    const fresh = await newRooms(100, 50, [side])
    let next = 0
    return run(side, 2000, 201, () => ({
      method: "POST",
      path: `/api/rooms/${fresh[next++ % fresh.length] ?? ""}/messages`,
      headers: { ...headers(), "content-type": "application/json" },
      body,
    }))
  })

  const rate = async (known: ReadonlyArray<string>) => {
    const rates: Array<number> = []
    for (let index = 0; index <= rounds; index++) rates.push((await run("ours", 4000, 200, pollOf(known, 0))).rate)
    return median(rates.slice(1))
  }
  const thousand = await newRooms(900, 10, ["ours"])
  const few = await rate(thousand)
  const all = [...thousand]
  for (let index = 0; index < 10; index++) all.push(...(await newRooms(9900, 10, ["ours"])))
  const many = await rate(all)

  console.log(`
${table(rows)}

Polls of ours, any room, with 1,000 rooms kept: ${few.toFixed(0)}/s; with 100,000: ${many.toFixed(0)}/s (${(many / few).toFixed(2)}).
${databases.about}; Node ${process.version}.`)
} finally {
  for (const one of served) await one.stop()
  await Promise.all([sql.ours.end(), sql.peer.end()])
  await databases.close()
}
process.exit(0)
