/** Many requests at once through two server processes: limits, sequence numbers and clientIds are as if they had come in a row. */
import { assert, layer } from "../lab/It.ts"
import { Effect, Context, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import {
  codeOf,
  endRoom,
  from,
  newAddress,
  newRoom,
  poll,
  polled,
  remove,
  type RoomClient,
  sendSignal,
} from "../lab/server/Rooms.ts"
import { type Answer, ask, realClock } from "../lab/Fixture.ts"
import { assertEach, assertNone, valuesOf } from "../lab/Assertions.ts"
import { LocalDatabase } from "../../src/sandbox/LocalDatabase.ts"
import { database, sql } from "../lab/Database.ts"
import { make } from "../lab/server/ServerProcess.ts"

class Servers extends Context.Service<Servers, readonly [string, string]>()("test/Servers") {}

const twoServers = Effect.gen(function* () {
  const { url } = yield* LocalDatabase
  const env = {
    PATH: process.env["PATH"] ?? "",
    DATABASE_URL: Redacted.value(url),
    TRUSTED_PROXIES: "127.0.0.1",
    LOG_LEVEL: "Info",
  }
  const servers = [yield* make(env), yield* make(env)] as const
  yield* Effect.all([servers[0].start, servers[1].start], { concurrency: 2 })
  return [servers[0].url, servers[1].url] as const
})

const processes = Layer.effect(Servers, twoServers).pipe(Layer.provideMerge(sql), Layer.provideMerge(database))

/** `count` requests at once, every other one to the second server. */
const atOnce = <A, E, R>(
  servers: readonly [string, string],
  count: number,
  request: (url: string, index: number) => Effect.Effect<A, E, R>,
) =>
  Effect.forEach(
    Array.from({ length: count }, (_, index) => index),
    (index) => request(servers[index % 2 === 0 ? 0 : 1], index),
    { concurrency: "unbounded" },
  )

const outcomesOf = (answers: ReadonlyArray<Answer>) =>
  Object.fromEntries(
    [...Map.groupBy(answers, (answer) => (answer.status < 400 ? `${answer.status}` : codeOf(answer)))].map(
      ([key, list]) => [key, list.length],
    ),
  )

const at = (guest: RoomClient | undefined, url: string): RoomClient => ({ ...(guest ?? assert.fail("no room")), url })

const newRooms = (url: string, count: number) => Effect.forEach(Array.from({ length: count }), () => newRoom(url))

const create = (url: string, who: string) => ask(`${url}/api/rooms`, { method: "POST", headers: from(who) })

const accepted = (answers: ReadonlyArray<Answer>) => answers.filter(({ status }) => status < 300)
const refused = (answers: ReadonlyArray<Answer>) => answers.filter(({ status }) => status === 429)

/** The n-th /64 of a /56, whose number is `customer`, in a /48. */
const addressIn = (site: string, customer: number, nth: number) =>
  `2001:db8:${site}:${((customer << 8) | nth).toString(16)}::1`

/** The message of a limit's refusal, and its wait. */
const saidBy = (answer: Answer | undefined) => {
  const { error, limit, retryAfter } = JSON.parse(answer?.text ?? "{}")
  assert.strictEqual(error.code, "RATE_LIMITED")
  assert.isTrue(error.message.startsWith(`The limit of ${limit} is reached;`), error.message)
  assert.strictEqual(answer?.headers.get("retry-after"), String(retryAfter))
  return { message: String(error.message), wait: Number(retryAfter) }
}

layer(processes, realClock)("two servers", (it) => {
  it.effect.each([
    { quota: 5, seconds: 3600, name: "creations-hour" },
    { quota: 20, seconds: 60, name: "sends" },
    { quota: 10, seconds: 60, name: "deletions" },
  ] as const)(
    "accept $quota $name of 200 concurrent requests from one address, and tell the others the wait",
    ({ name, quota, seconds }) =>
      Effect.gen(function* () {
        const servers = yield* Servers
        const guests = yield* newRooms(servers[0], 40)
        const address = newAddress()
        const request = {
          "creations-hour": (url: string) => create(url, address),
          sends: (url: string, index: number) => sendSignal(at(guests[index % 40], url), {}, address),
          deletions: (url: string, index: number) => remove(at(guests[index % 40], url), address),
        }
        const began = performance.now()
        const answers = yield* atOnce(servers, 200, request[name])
        assert.lengthOf(accepted(answers), quota)
        assert.isAbove(refused(answers).length, 100)
        for (const answer of refused(answers)) {
          const { message, wait } = saidBy(answer)
          assert.match(message, new RegExp(`${quota} .+ per (minute|hour)`, "u"))
          assert.isAtMost(wait, seconds)
          assert.isAtLeast(wait, seconds - Math.ceil((performance.now() - began) / 1000))
          assert.include(answer.headers.get("ratelimit-policy") ?? "", `"${name}";q=${quota};w=${seconds}`)
          assert.include(answer.headers.get("ratelimit") ?? "", `"${name}";r=0;t=${wait}`)
          assert.strictEqual(answer.headers.get("cache-control"), "no-store")
        }
      }),
  )

  it.effect("accept 120 polls of an address beside any number that a room refuses", function* () {
    const servers = yield* Servers
    const [guest, other, ended] = yield* newRooms(servers[0], 3)
    yield* endRoom(at(ended, ""))
    const address = newAddress()
    const wrong = [{ ...guest, token: other?.token ?? "" }, { ...guest, id: crypto.randomUUID() }, ended]
    const answers = yield* atOnce(servers, 480, (url, index) =>
      poll(at({ ...at(guest, url), ...wrong[(index % 4) - 1] }, url), "", address),
    )
    assert.deepStrictEqual(outcomesOf(answers), { 200: 120, UNAUTHORIZED: 120, NOT_FOUND: 120, EXPIRED: 120 })
    assert.strictEqual((yield* poll(at(guest, servers[0]), "", address)).status, 429)
  })

  it.effect("number 200 concurrent sends to a room in a row, accept 30 a minute, and evict the oldest", function* () {
    const db = yield* SqlClient.SqlClient
    const servers = yield* Servers
    const guest = yield* newRoom(servers[0])
    for (let index = 0; index < 35; index++) {
      assert.strictEqual((yield* sendSignal(guest, { text: `before ${index}` })).status, 201)
      yield* db`DELETE FROM rate_limits WHERE key = ${`room-messages:${guest.id}`}`
    }
    const answers = yield* atOnce(servers, 200, (url, index) => sendSignal(at(guest, url), { text: `${index}` }))
    assert.deepStrictEqual(outcomesOf(answers), { "201": 30, RATE_LIMITED: 170 })
    assert.match(saidBy(refused(answers)[0]).message, /30 new messages per minute in one room/u)
    const sent = accepted(answers).map(({ text }) => JSON.parse(text))
    for (const { message, room } of sent) assert.strictEqual(room.latestSequence, message.seq)
    const inOrder = sent.map(({ message }) => message).sort((one, two) => one.seq - two.seq)
    const { messages } = polled(yield* poll(guest))
    assert.deepStrictEqual(
      valuesOf(messages, "seq"),
      Array.from({ length: 50 }, (_, index) => index + 16),
    )
    assert.deepStrictEqual(messages.slice(20), inOrder)
    const times = inOrder.map(({ createdAt }) => createdAt)
    assert.deepStrictEqual(times, times.toSorted())
  })

  it.effect("make one message of 200 concurrent sends with one clientId, and refuse other content", function* () {
    const servers = yield* Servers
    const guest = yield* newRoom(servers[0])
    const answers = yield* atOnce(servers, 200, (url, index) =>
      sendSignal(at(guest, url), { clientId: "same", text: index % 4 < 2 ? "one" : "other" }),
    )
    assert.deepStrictEqual(outcomesOf(answers), { "200": 99, "201": 1, CONFLICT: 100 })
    const first = answers.find(({ status }) => status === 201)?.text ?? ""
    for (const { status, text } of answers) {
      if (status === 200) assert.strictEqual(text, first.replace('"duplicate":false', '"duplicate":true'))
    }
    assert.deepStrictEqual(valuesOf(polled(yield* poll(guest)).messages, "seq"), [1])
  })

  it.effect("do not deadlock when many addresses send to many rooms, and keep each room gapless", function* () {
    const servers = yield* Servers
    const guests = yield* newRooms(servers[0], 12)
    const addresses = Array.from({ length: 25 }, () => newAddress())
    const answers = yield* atOnce(servers, 200, (url, index) => {
      const address = addresses[(index * 11) % addresses.length]
      return sendSignal(at(guests[(index * 7) % guests.length], url), { text: `${index}` }, address)
    })
    assert.deepStrictEqual(outcomesOf(answers), { "201": 200 })
    for (const guest of guests) {
      const { messages } = polled(yield* poll(guest))
      assertEach(
        messages,
        ({ seq }) => seq,
        messages.map((_, place) => place + 1),
      )
    }
  })

  it.effect("leave nothing of a room that is deleted between concurrent sends", function* () {
    const db = yield* SqlClient.SqlClient
    const servers = yield* Servers
    const guest = yield* newRoom(servers[0])
    const answers = yield* atOnce(servers, 60, (url, index) =>
      index === 30 ? remove(at(guest, url)) : sendSignal(at(guest, url)),
    )
    assert.deepStrictEqual([answers[30]?.status, answers[30]?.text], [200, '{"deleted":true}'])
    assertNone(answers, ({ status }) => ![200, 201, 404, 429].includes(status))
    const [left] = yield* db<{ n: number }>`
        SELECT (SELECT count(*) FROM rooms WHERE id = ${guest.id}::uuid)::int
          + (SELECT count(*) FROM room_messages WHERE room_id = ${guest.id}::uuid)::int AS n`
    assert.strictEqual(left?.n, 0)
  })

  it.effect("create 20 rooms an hour for a /56 and 100 for a /48, and others for another /48", function* () {
    const servers = yield* Servers
    const customer = (which: number) => atOnce(servers, 40, (url, index) => create(url, addressIn("a", which, index)))
    for (const which of [1, 2, 3, 4, 5]) {
      const answers = yield* customer(which)
      // Never more than 20. A request that loses a race may use up a place of its network.
      assert.isAtMost(accepted(answers).length, 20)
      assert.isAtLeast(accepted(answers).length, 16)
      const { message } = saidBy(refused(answers)[0])
      // The last customer may find the /48 full as well.
      if (which < 5) assert.match(message, /limit of 20 new rooms per hour from one \/56 network is reached/u)
    }
    const beyond = yield* customer(6)
    assert.lengthOf(accepted(beyond), 0)
    assert.match(saidBy(beyond[0]).message, /limit of 100 new rooms per hour from one \/48 network is reached/u)
    assert.strictEqual((yield* create(servers[0], addressIn("b", 1, 1))).status, 201)
  })

  it.effect("count nothing for a network of an address that exceeds its own limit", function* () {
    const db = yield* SqlClient.SqlClient
    const servers = yield* Servers
    const guest = yield* newRoom(servers[0])
    const loud = yield* Effect.forEach(Array.from({ length: 60 }), () => sendSignal(guest, {}, addressIn("d", 1, 1)))
    assert.lengthOf(accepted(loud), 20)
    const [row] = yield* db<{ n: number }>`
        SELECT count(*)::int AS n FROM rate_limits WHERE key LIKE 'sends-48:%' AND cardinality(hits) = 20`
    assert.strictEqual(row?.n, 1)
  })
})
