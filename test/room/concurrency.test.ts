/** 200 sends at once through two server processes: gapless, evicted, once per clientId, as if they had come in a row. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { atOnce, layer as processes, Servers } from "../lab/server/TwoServers.ts"
import { codeOf, type RoomClient, newAddress, newRoom, poll, polled, send } from "../lab/server/Rooms.ts"
import type { Answer } from "../lab/Fixture.ts"
import { assert, assertEach, assertNone, suite, valuesOf } from "../lab/Suites.ts"

const byStatus = (answers: ReadonlyArray<Answer>) =>
  Object.fromEntries(
    [...Map.groupBy(answers, (answer) => (answer.status < 400 ? `${answer.status}` : codeOf(answer)))]
      .map(([key, list]) => [key, list.length] as const)
      .sort(),
  )

/** A room that has kept `count` messages, none of them in the last minute. */
const roomWith = Effect.fnUntraced(function* (url: string, count: number) {
  const db = yield* SqlClient.SqlClient
  const guest = yield* newRoom(url)
  for (let index = 0; index < count; index++) {
    assert.strictEqual((yield* send(guest, { text: `before ${index}`, clientId: `before-${index}` })).status, 201)
    yield* db`UPDATE rooms SET sent = '{}' WHERE id = ${guest.id}::uuid`
  }
  return guest
})

const at = (guest: RoomClient, url: string): RoomClient => ({ ...guest, url })

suite("200 concurrent sends", processes, (it) => {
  it("take consecutive numbers, 30 a minute, and evict the oldest", function* ({ sql: db }) {
    const servers = yield* Servers
    const guest = yield* roomWith(servers[0], 35)
    const answers = yield* atOnce(servers, 200, (url, index) =>
      send(at(guest, url), { text: `${index}`, clientId: `c${index}` }),
    )
    assert.deepStrictEqual(byStatus(answers), { "201": 30, RATE_LIMITED: 170 })
    const accepted = answers.filter(({ status }) => status === 201).map(({ text }) => JSON.parse(text))
    assert.deepStrictEqual(
      accepted.map(({ message }) => message.seq).sort((one, other) => one - other),
      Array.from({ length: 30 }, (_, index) => index + 36),
    )
    for (const { message, room } of accepted) assert.strictEqual(room.latestSequence, message.seq)
    const { messages, room } = polled(yield* poll(guest))
    assert.strictEqual(room.latestSequence, 65)
    assert.deepStrictEqual(
      valuesOf(messages, "seq"),
      Array.from({ length: 50 }, (_, index) => index + 16),
    )
    for (const { message } of accepted) {
      assert.deepStrictEqual(
        messages.find(({ seq }) => seq === message.seq),
        message,
      )
    }
    const times = JSON.parse((yield* poll(guest)).text).messages.map((one: { createdAt: string }) => one.createdAt)
    assert.deepStrictEqual(times, times.toSorted())
    const [kept] = yield* db<{ messages: number; keys: number; sent: number }>`
        SELECT (SELECT count(*) FROM room_messages WHERE room_id = rooms.id)::int AS messages,
          cardinality(client_keys) AS keys, cardinality(sent) AS sent FROM rooms WHERE id = ${guest.id}::uuid`
    assert.deepStrictEqual(kept, { messages: 50, keys: 50, sent: 30 })
  })

  it("with one clientId make one message, and other content conflicts", function* () {
    const servers = yield* Servers
    const guest = yield* newRoom(servers[0])
    const answers = yield* atOnce(servers, 200, (url, index) =>
      send(at(guest, url), { clientId: "same", text: index % 4 < 2 ? "one" : "other" }),
    )
    assert.deepStrictEqual(byStatus(answers), { "200": 99, "201": 1, CONFLICT: 100 })
    const first = answers.find(({ status }) => status === 201)?.text ?? ""
    for (const { status, text } of answers) {
      if (status === 200) assert.strictEqual(text, first.replace('"duplicate":false', '"duplicate":true'))
    }
    assert.deepStrictEqual(valuesOf(polled(yield* poll(guest)).messages, "seq"), [1])
  })

  it("to many rooms from shared addresses do not deadlock, and keep each room gapless", function* () {
    const servers = yield* Servers
    const guests = yield* Effect.forEach(Array.from({ length: 12 }), () => newRoom(servers[0]))
    const addresses = Array.from({ length: 25 }, () => newAddress())
    const answers = yield* atOnce(servers, 200, (url, index) => {
      const guest = guests[(index * 7) % guests.length]
      const address = addresses[(index * 11) % addresses.length]
      if (guest === undefined) return Effect.die("no room")
      return Effect.map(send(at(guest, url), { text: `${index}` }, address), (answer) => ({ guest, index, answer }))
    })
    assert.deepStrictEqual(byStatus(answers.map(({ answer }) => answer)), { "201": 200 })
    for (const guest of guests) {
      const sent = answers
        .filter((one) => one.guest === guest)
        .map(({ answer, index }) => [JSON.parse(answer.text).message, index] as const)
        .sort(([one], [other]) => one.seq - other.seq)
      const { messages } = polled(yield* poll(guest))
      assertEach(
        messages,
        ({ seq, text }) => [seq, text],
        sent.map(([, index], place) => [place + 1, `${index}`]),
      )
    }
  })

  it("leave nothing in a room that is deleted concurrently", function* ({ sql: db }) {
    const servers = yield* Servers
    const guest = yield* newRoom(servers[0])
    const answers = yield* atOnce(servers, 60, (url, index) =>
      index === 30
        ? Effect.promise(() =>
            fetch(`${url}/api/rooms/${guest.id}`, {
              method: "DELETE",
              headers: { authorization: `Bearer ${guest.token}` },
            }),
          ).pipe(Effect.map(({ status }) => status))
        : Effect.map(send(at(guest, url)), ({ status }) => status),
    )
    assert.strictEqual(answers[30], 200)
    assertNone(answers, (status) => ![200, 201, 404, 429].includes(status))
    const [left] = yield* db<{ n: number }>`
        SELECT (SELECT count(*) FROM rooms WHERE id = ${guest.id}::uuid)::int
          + (SELECT count(*) FROM room_messages WHERE room_id = ${guest.id}::uuid)::int AS n`
    assert.strictEqual(left?.n, 0)
  })
})
