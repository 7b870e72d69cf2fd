/** As many rooms as the server keeps: how a further one is refused, what still works, and what a full room weighs. */
import { Effect, Layer, Result } from "effect"
import { network } from "../../src/limits/Address.ts"
import { roomBytes } from "../../src/room/Ceiling.ts"
import { bearer, from, newAddress, newRoom, poll, send } from "../lab/server/Rooms.ts"
import { prepare } from "../lab/buyer/Purchase.ts"
import { ask, layer as altar, post } from "../lab/Fixture.ts"
import { assert, suite } from "../lab/Suites.ts"

const trustedProxies = [Result.getOrThrow(network("127.0.0.1"))]

const worldOf = (rooms: number, bytes: number) =>
  Layer.fresh(altar({}, undefined, { trustedProxies, rooms: { rooms, bytes, countEvery: 0 } }))

const create = (url: string, address: string = newAddress()) =>
  ask(`${url}/api/rooms`, { method: "POST", headers: from(address) })

suite("a server with room for three rooms", worldOf(3, 100 * roomBytes), (it) => {
  it("refuses a fourth with 503 and a wait, and counts nothing against the address", function* ({ url, sql: db }) {
    const guests = yield* Effect.forEach([1, 2, 3], () => newRoom(url))
    yield* db`UPDATE rooms SET expires_at = now() + interval '100 seconds' WHERE id = ${guests[0]?.id}::uuid`
    const address = newAddress()
    const refused = yield* create(url, address)
    assert.strictEqual(refused.status, 503)
    const { error, retryAfter } = JSON.parse(refused.text)
    assert.deepStrictEqual(Object.keys(JSON.parse(refused.text)), ["error", "retryAfter"])
    assert.strictEqual(error.code, "ROOMS_FULL")
    assert.strictEqual(refused.headers.get("retry-after"), String(retryAfter))
    assert.strictEqual(refused.headers.get("cache-control"), "no-store")
    assert.isAtMost(retryAfter, 160)
    assert.isAbove(retryAfter, 100)
    const [guest] = guests
    if (guest === undefined) return assert.fail("no room")
    assert.strictEqual((yield* send(guest)).status, 201)
    assert.strictEqual((yield* poll(guest)).status, 200)
    const gone = yield* ask(`${url}/api/rooms/${guest.id}`, { method: "DELETE", headers: bearer(guest) })
    assert.strictEqual(gone.status, 200)
    const again = yield* create(url, address)
    assert.strictEqual(again.status, 201)
    assert.match(again.headers.get("ratelimit") ?? "", /^"creations-hour";r=4;/u)
  })

  it("creates no more of them under concurrent requests", function* ({ url, sql: db }) {
    yield* db`DELETE FROM rooms`
    const answers = yield* Effect.forEach(Array.from({ length: 30 }), () => create(url), {
      concurrency: "unbounded",
    })
    const statuses = answers.map(({ status }) => status)
    assert.strictEqual(statuses.filter((status) => status === 201).length, 3)
    assert.strictEqual(statuses.filter((status) => status === 503).length, 27)
  })

  it("sells stones as before", function* ({ url }) {
    assert.strictEqual((yield* create(url)).status, 503)
    const { body, headers } = yield* prepare(url)
    assert.strictEqual((yield* ask(`${url}/api/witness`, post(body, headers))).status, 201)
    assert.strictEqual((yield* ask(`${url}/api/health`)).status, 200)
  })
})

suite("a server with room for the bytes of two full rooms", worldOf(1000, 3 * roomBytes - 1), (it) => {
  it("keeps two rooms within them, whatever is sent", function* ({ url, sql: db }) {
    const wide = "\u{1f56f}"
    const guests = yield* Effect.forEach([1, 2], () => newRoom(url))
    assert.strictEqual((yield* create(url)).status, 503)
    for (const guest of guests) {
      for (let nth = 0; nth < 50; nth += 1) {
        if (nth % 25 === 0) yield* db`UPDATE rooms SET sent = '{}'`
        const signal = {
          sender: wide.repeat(40),
          text: wide.repeat(160),
          senderKind: "person",
          mode: "celebrate",
          clientId: `${nth}`.padEnd(64, "x"),
        }
        assert.strictEqual((yield* send(guest, signal)).status, 201)
      }
    }
    yield* db`UPDATE rooms SET name = ${wide.repeat(60)}, latest_sequence = 2000000000,
          sent = array_fill(now(), ARRAY[30])`
    yield* db`UPDATE room_messages SET sequence = 2000000000, body = replace(body, '"seq":', '"seq":1000000000')`
    const [weight] = yield* db<{ bytes: number }>`
          SELECT ((SELECT sum(octet_length(m.body) + pg_column_size(m) - pg_column_size(m.body)) FROM room_messages m)
            + (SELECT sum(pg_column_size(r)) FROM rooms r))::int AS bytes`
    assert.isAbove(weight?.bytes ?? 0, roomBytes)
    assert.isAtMost(weight?.bytes ?? Infinity, 2 * roomBytes)
  })
})
