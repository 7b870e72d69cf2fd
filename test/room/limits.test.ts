/** Every limit of the table: exactly its number of 200 requests at once through two server processes, and the true wait. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { atOnce, layer as processes, Servers } from "../lab/server/TwoServers.ts"
import { bearer, codeOf, endRoom, from, type RoomClient, newAddress, newRoom, poll, send } from "../lab/server/Rooms.ts"
import { type Answer, ask } from "../lab/Fixture.ts"
import { assert, suite } from "../lab/Suites.ts"

/** Lets time pass for all limits. */
const pass = Effect.fnUntraced(function* (seconds: number) {
  const db = yield* SqlClient.SqlClient
  yield* db`UPDATE rate_limits SET hits = ARRAY(SELECT h - make_interval(secs => ${seconds}::float8) FROM unnest(hits) AS h)`
  yield* db`UPDATE rooms SET sent = ARRAY(SELECT h - make_interval(secs => ${seconds}::float8) FROM unnest(sent) AS h)`
})

const noRoom = "5f1b7c0e-3d2a-4f6b-8c9d-1e2f3a4b5c6d"

/** How many answers there are of each status. */
const statusesOf = (answers: ReadonlyArray<Answer>) =>
  Object.fromEntries([...Map.groupBy(answers, ({ status }) => status)].map(([status, all]) => [status, all.length]))

const isAccepted = ({ status }: Answer) => status !== 429

/** Whole seconds since then, the last one begun: the least by which a wait that was full then has become shorter. */
const since = (began: number) => Math.ceil((performance.now() - began) / 1000)

/** The refusals of one limit that was first used after `began`, all of them right, and how many were let in. */
const acceptedOf = (
  answers: ReadonlyArray<Answer>,
  began: number,
  name: string,
  quota: number,
  seconds: number,
  wait = seconds,
) => {
  for (const refused of answers.filter((answer) => !isAccepted(answer))) {
    const { error, retryAfter } = JSON.parse(refused.text)
    assert.deepStrictEqual(Object.keys(JSON.parse(refused.text)), ["error", "retryAfter"])
    assert.strictEqual(error.code, "RATE_LIMITED")
    assert.match(error.message, new RegExp(`${quota} .+ per (minute|hour|day)`, "u"))
    assert.strictEqual(refused.headers.get("retry-after"), String(retryAfter))
    assert.isAtMost(retryAfter, wait)
    assert.isAtLeast(retryAfter, wait - since(began))
    assert.include(refused.headers.get("ratelimit-policy") ?? "", `"${name}";q=${quota};w=${seconds}`)
    assert.include(refused.headers.get("ratelimit") ?? "", `"${name}";r=0;t=${retryAfter}`)
    assert.strictEqual(refused.headers.get("cache-control"), "no-store")
  }
  return answers.filter(isAccepted).length
}

suite("of 200 concurrent requests,", processes, (it) => {
  it("5 rooms an hour and 10 a day from one address are made", function* () {
    const servers = yield* Servers
    const address = newAddress()
    const began = performance.now()
    const create = atOnce(servers, 200, (url) => ask(`${url}/api/rooms`, { method: "POST", headers: from(address) }))
    assert.strictEqual(acceptedOf(yield* create, began, "creations-hour", 5, 3600), 5)
    yield* pass(3600)
    assert.strictEqual(acceptedOf(yield* create, began, "creations-day", 10, 86_400, 86_400 - 3600), 5)
    yield* pass(3600)
    const refused = yield* ask(`${servers[0]}/api/rooms`, { method: "POST", headers: from(address) })
    assert.strictEqual(refused.status, 429)
    assert.match(refused.text, /10 new rooms per day/u)
    const wait = Number(refused.headers.get("retry-after"))
    assert.isAtMost(wait, 86_400 - 7200)
    assert.isAtLeast(wait, 86_400 - 7200 - since(began))
    yield* pass(wait)
    assert.strictEqual((yield* create).filter(isAccepted).length, 5)
  })

  it("20 sends a minute from one address pass, replays included, and rejected ones count nothing", function* () {
    const servers = yield* Servers
    const [one, two] = [yield* newRoom(servers[0]), yield* newRoom(servers[0])]
    const address = newAddress()
    const began = performance.now()
    const answers = yield* atOnce(servers, 200, (url, index) =>
      send({ ...(index % 4 < 2 ? one : two), url }, {}, address),
    )
    assert.strictEqual(acceptedOf(answers, began, "sends", 20, 60), 20)
    yield* pass(60)
    const clientId = "again"
    const [stranger, nowhere] = [
      { ...one, token: two.token },
      { ...one, id: noRoom },
    ]
    for (const [guest, text, status, left] of [
      [one, "hello", 201, '"sends";r=19, "room-messages";r=29'],
      [one, "hello", 200, '"sends";r=18, "room-messages";r=29'],
      [one, "another", 409, null],
      [stranger, "hello", 401, null],
      [nowhere, "hello", 404, null],
    ] as const) {
      const answer = yield* send(guest, { clientId, text }, address)
      assert.strictEqual(answer.status, status, answer.text)
      assert.strictEqual(answer.headers.get("ratelimit")?.replaceAll(/;t=\d+/gu, "") ?? null, left)
    }
    const next = yield* send(one, {}, address)
    assert.match(next.headers.get("ratelimit") ?? "", /^"sends";r=17;t=\d+, "room-messages";r=28;t=\d+$/u)
  })

  it("10 deletions a minute from one address pass, and deletions without a room count nothing", function* () {
    const servers = yield* Servers
    const address = newAddress()
    const remove = (guest: RoomClient, url = guest.url) =>
      ask(`${url}/api/rooms/${guest.id}`, { method: "DELETE", headers: bearer(guest, address) })
    const first = yield* newRoom(servers[0])
    const began = performance.now()
    const same = yield* atOnce(servers, 200, (url) => remove(first, url))
    assert.deepStrictEqual(statusesOf(same), { 200: 1, 404: 199 })
    const guests = yield* Effect.forEach(Array.from({ length: 20 }), () => newRoom(servers[0]))
    const answers = yield* atOnce(servers, 200, (url, index) => remove(guests[index % 20] ?? first, url))
    const refused = answers.filter(({ status }) => status === 429)
    assert.strictEqual(answers.filter(({ status }) => status === 200).length, 9)
    assert.isAtLeast(refused.length, 11)
    acceptedOf(answers, began, "deletions", 10, 60)
    yield* pass(60)
    const again = yield* Effect.forEach(guests, (guest) => remove(guest))
    assert.deepStrictEqual(statusesOf(again), { 200: 10, 404: 9, 429: 1 })
  })

  it("a limited address gets the same answer for a wrong token, an unknown and an ended room", function* () {
    const servers = yield* Servers
    const [guest, other, ended] = [yield* newRoom(servers[0]), yield* newRoom(servers[0]), yield* newRoom(servers[0])]
    yield* endRoom(ended)
    const address = newAddress()
    const wrong: ReadonlyArray<RoomClient> = [{ ...guest, token: other.token }, { ...guest, id: noRoom }, ended]
    // Beside each other and at once, in any order: 120 that the room answers, and many that it refuses.
    const answers = yield* atOnce(servers, 480, (url, index) =>
      poll({ ...(wrong[(index % 4) - 1] ?? guest), url }, "", address),
    )
    assert.deepStrictEqual(statusesOf(answers), { 200: 120, 401: 120, 404: 120, 410: 120 })
    assert.strictEqual((yield* poll(guest, "", address)).status, 429)
    for (const [index, status] of [401, 404, 410].entries()) {
      const answer = yield* poll(wrong[index] ?? guest, "", address)
      assert.strictEqual(answer.status, status)
      assert.isNull(answer.headers.get("ratelimit"))
    }
  })

  it("30 new messages a minute pass in one room, replays beside them", function* ({ sql: db }) {
    const servers = yield* Servers
    const guest = yield* newRoom(servers[0])
    const began = performance.now()
    assert.strictEqual((yield* send(guest, { clientId: "first" })).status, 201)
    yield* pass(30)
    const before = yield* db<{
      n: number
    }>`SELECT count(*)::int AS n FROM rate_limits WHERE key LIKE 'room-sends:%'`
    const answers = yield* atOnce(servers, 200, (url) => send({ ...guest, url }))
    assert.strictEqual(answers.filter(isAccepted).length, 29)
    const after = yield* db<{ n: number }>`SELECT count(*)::int AS n FROM rate_limits WHERE key LIKE 'room-sends:%'`
    assert.strictEqual((after[0]?.n ?? 0) - (before[0]?.n ?? 0), 29)
    const refused = answers.find((answer) => !isAccepted(answer))
    assert.match(refused?.text ?? "", /30 new messages per minute in one room/u)
    assert.isAtMost(Number(refused?.headers.get("retry-after")), 30)
    assert.isAtLeast(Number(refused?.headers.get("retry-after")), 30 - since(began))
    const replay = yield* send(guest, { clientId: "first" })
    assert.strictEqual(replay.status, 200)
    yield* pass(30)
    assert.strictEqual((yield* send(guest)).status, 201)
    assert.strictEqual(codeOf(yield* send(guest)), "RATE_LIMITED")
  })
})
