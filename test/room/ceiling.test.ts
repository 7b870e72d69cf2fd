/** As many rooms as the server keeps: how a further one is refused, what still works, and what a full room weighs. */
import { assert, layer } from "../lab/It.ts"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { from, newAddress, newRoom, poll, rooms, sendSignal, remove } from "../lab/server/Rooms.ts"
import { ask, realClock, TestServer } from "../lab/Fixture.ts"

const create = (url: string, address: string = newAddress()) =>
  ask(`${url}/api/rooms`, { method: "POST", headers: from(address) })

layer(rooms({ rooms: { rooms: 3, countEvery: 0 } }), realClock)("a server with room for three rooms", (it) => {
  it.effect("creates no more under concurrent requests, and tells the others the wait", function* () {
    const { url } = yield* TestServer
    const db = yield* SqlClient.SqlClient
    const guest = yield* newRoom(url)
    yield* db`UPDATE rooms SET expires_at = now() + interval '100 seconds'`
    const address = newAddress()
    const answers = yield* Effect.forEach(Array.from({ length: 30 }), () => create(url), { concurrency: "unbounded" })
    assert.lengthOf(
      answers.filter(({ status }) => status === 201),
      2,
    )
    const refused = yield* create(url, address)
    for (const answer of [refused, ...answers.filter(({ status }) => status !== 201)]) {
      assert.strictEqual(answer.status, 503)
      const { error, retryAfter } = JSON.parse(answer.text)
      assert.strictEqual(error.code, "ROOMS_FULL")
      assert.strictEqual(answer.headers.get("retry-after"), String(retryAfter))
      assert.strictEqual(answer.headers.get("cache-control"), "no-store")
      assert.isAtMost(retryAfter, 160)
      assert.isAbove(retryAfter, 100)
    }
    assert.strictEqual((yield* sendSignal(guest)).status, 201)
    assert.strictEqual((yield* poll(guest)).status, 200)
    const gone = yield* remove(guest)
    assert.strictEqual(gone.status, 200)
    const again = yield* create(url, address)
    assert.strictEqual(again.status, 201)
    assert.match(again.headers.get("ratelimit") ?? "", /^"creations-hour";r=4;/u, "the refusal counted nothing")
  })
})

/** The limit of rooms bounds the disk: a full room has at most these bytes. */
const roomBytes = 65_536

const twoRooms = rooms({ rooms: { rooms: 2, countEvery: 0 } })

layer(twoRooms, realClock)("a server with room for two rooms", (it) => {
  it.effect("keeps each within 64 KiB, whatever is sent", function* () {
    const { url } = yield* TestServer
    const db = yield* SqlClient.SqlClient
    const wide = "\u{1f56f}"
    const guests = yield* Effect.forEach([1, 2], () => newRoom(url))
    assert.strictEqual((yield* create(url)).status, 503)
    for (const guest of guests) {
      for (let nth = 0; nth < 50; nth += 1) {
        if (nth % 25 === 0) yield* db`DELETE FROM rate_limits`
        const clientId = `${nth}`.padEnd(64, "x")
        const signal = { sender: wide.repeat(40), text: wide.repeat(160), mode: "celebrate", clientId }
        assert.strictEqual((yield* sendSignal(guest, signal)).status, 201)
      }
    }
    yield* db`UPDATE rooms SET name = ${wide.repeat(60)}, latest_sequence = 2000000000`
    yield* db`UPDATE room_messages SET sequence = 2000000000, body = replace(body, '"seq":', '"seq":1000000000')`
    const [weight] = yield* db<{ bytes: number }>`
          SELECT ((SELECT sum(octet_length(m.body) + pg_column_size(m) - pg_column_size(m.body)) FROM room_messages m)
            + (SELECT sum(pg_column_size(r)) FROM rooms r))::int AS bytes`
    assert.isAbove(weight?.bytes ?? 0, roomBytes)
    assert.isAtMost(weight?.bytes ?? Infinity, 2 * roomBytes)
  })
})
