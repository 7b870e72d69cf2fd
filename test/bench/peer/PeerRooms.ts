/** The signal room as most people would build it: Hono and postgres.js, a query for each thing that has to be known. */
import { createHash, randomUUID, timingSafeEqual } from "node:crypto"
import { serve } from "@hono/node-server"
import { Hono, type Context } from "hono"
import postgres from "postgres"

const sql = postgres(process.env["DATABASE_URL"] ?? "", { max: 16, onnotice: () => {} })

interface RoomRow {
  readonly id: string
  readonly name: string
  readonly token_digest: Uint8Array
  readonly created_at: Date
  readonly expires_at: Date
  readonly latest_sequence: number
}

const pseudonym = (c: Context) =>
  createHash("sha256")
    .update(`salt:${c.req.header("x-forwarded-for") ?? ""}`)
    .digest("hex")

/** A counter for each minute: cheaper than an exact window, and less exact. */
const isAllowed = async (name: string, c: Context, quota: number) => {
  const minute = Math.floor(Date.now() / 60_000)
  const rows = await sql<Array<{ n: number }>>`
    INSERT INTO peer_limits (key, n) VALUES (${`${name}:${pseudonym(c)}:${minute}`}, 1)
    ON CONFLICT (key) DO UPDATE SET n = peer_limits.n + 1 RETURNING n`
  return (rows[0]?.n ?? 0) <= quota
}

const refusal = (room: RoomRow | undefined, c: Context) => {
  if (room === undefined) return c.json({ error: { code: "NOT_FOUND", message: "no room" } }, 404)
  const token = /^Bearer ([A-Za-z0-9_-]{43})$/u.exec(c.req.header("authorization") ?? "")?.[1] ?? ""
  if (!timingSafeEqual(createHash("sha256").update(token).digest(), room.token_digest))
    return c.json({ error: { code: "UNAUTHORIZED", message: "wrong token" } }, 401)
  if (room.expires_at.getTime() <= Date.now()) return c.json({ error: { code: "EXPIRED", message: "expired" } }, 410)
  return undefined
}

const limited = (c: Context) => c.json({ error: { code: "RATE_LIMITED", message: "too many" }, retryAfter: 60 }, 429)

const roomOf = (room: RoomRow, latest = room.latest_sequence) => ({
  id: room.id,
  name: room.name,
  createdAt: room.created_at.toISOString(),
  expiresAt: room.expires_at.toISOString(),
  latestSequence: latest,
})

const app = new Hono()

app.get("/api/rooms/:id", async (c) => {
  if (!(await isAllowed("reads", c, 120))) return limited(c)
  const [room] = await sql<Array<RoomRow>>`SELECT * FROM peer_rooms WHERE id = ${c.req.param("id")}`
  const refused = refusal(room, c)
  if (refused !== undefined || room === undefined) return refused ?? c.notFound()
  const after = Number(c.req.query("after") ?? 0)
  const messages = await sql`
    SELECT id, seq, sender, sender_kind AS "senderKind", text, mode, created_at AS "createdAt" FROM peer_messages
    WHERE room_id = ${room.id} AND seq > ${after} ORDER BY seq LIMIT 50`
  const truncated = after > 0 && after < room.latest_sequence - 50
  return c.json({ room: roomOf(room), messages, truncated, serverTime: new Date().toISOString() })
})

const modes = new Set(["calm", "spark", "ping", "celebrate"])
const isLine = (value: unknown, longest: number): value is string =>
  typeof value === "string" && value.trim() !== "" && [...value].length <= longest && /^[^\p{Cc}]*$/u.test(value)

app.post("/api/rooms/:id/messages", async (c) => {
  const body = await c.req.json<Record<string, unknown>>()
  const { mode, sender, text } = body
  if (!isLine(sender, 40) || !isLine(text, 160) || typeof mode !== "string" || !modes.has(mode))
    return c.json({ error: { code: "BAD_REQUEST", message: "bad" } }, 400)
  if (!(await isAllowed("sends", c, 20))) return limited(c)
  return sql.begin(async (tx) => {
    const [room] = await tx<Array<RoomRow & { recent: number }>>`
      SELECT r.*, (SELECT count(*)::int FROM peer_messages m
        WHERE m.room_id = r.id AND m.created_at > now() - interval '1 minute') AS recent
      FROM peer_rooms r WHERE id = ${c.req.param("id")} FOR UPDATE`
    const refused = refusal(room, c)
    if (refused !== undefined || room === undefined) return refused ?? c.notFound()
    if (room.recent >= 30) return limited(c)
    const seq = room.latest_sequence + 1
    const [message] = await tx`
      WITH evicted AS (DELETE FROM peer_messages WHERE room_id = ${room.id} AND seq <= ${seq - 50}),
        head AS (UPDATE peer_rooms SET latest_sequence = ${seq} WHERE id = ${room.id})
      INSERT INTO peer_messages (id, room_id, seq, sender, sender_kind, text, mode, created_at)
      VALUES (${randomUUID()}, ${room.id}, ${seq}, ${sender}, 'person', ${text}, ${mode}, now())
      RETURNING id, seq, sender, sender_kind AS "senderKind", text, mode, created_at AS "createdAt"`
    return c.json({ message, room: roomOf(room, seq), duplicate: false }, 201)
  })
})

serve({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" }, ({ port }) =>
  console.log(`Listening on http://127.0.0.1:${port}`),
)
