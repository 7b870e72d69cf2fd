/** Rooms and signals that come from many addresses of one IPv6 network, through two server processes. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { atOnce, layer as processes, Servers } from "../lab/server/TwoServers.ts"
import { from, newRoom, send } from "../lab/server/Rooms.ts"
import { type Answer, ask } from "../lab/Fixture.ts"
import { assert, suite } from "../lab/Suites.ts"

/** The n-th /64 of a /56, whose number is `customer`, in a /48. */
const address = (site: string, customer: number, nth: number) =>
  `2001:db8:${site}:${((customer << 8) | nth).toString(16)}::1`

const accepted = (answers: ReadonlyArray<Answer>) => answers.filter(({ status }) => status === 201)
const refused = (answers: ReadonlyArray<Answer>) => answers.filter(({ status }) => status === 429)

const create = (url: string, who: string) => ask(`${url}/api/rooms`, { method: "POST", headers: from(who) })

/** The window that a refusal names, and the time it asks for. */
const said = (answer: Answer | undefined) => {
  const { error, retryAfter }: { error: { message: string }; retryAfter: number } = JSON.parse(answer?.text ?? "")
  assert.strictEqual(answer?.headers.get("retry-after"), String(retryAfter))
  return error.message
}

const keptOf = Effect.fnUntraced(function* (policy: string) {
  const db = yield* SqlClient.SqlClient
  const rows = yield* db<{ hits: number }>`
    SELECT cardinality(hits) AS hits FROM rate_limits_48 WHERE key LIKE ${`${policy}:%`} ORDER BY hits DESC`
  return rows.map(({ hits }) => hits)
})

/** Never more than 20. A request that loses a race may use up a place of its network. */
const assertFilled = (answers: Parameters<typeof accepted>[0]) => {
  assert.isAtMost(accepted(answers).length, 20)
  assert.isAtLeast(accepted(answers).length, 16)
}

suite("many addresses of one network", processes, (it) => {
  it("create 20 rooms an hour in a /56 and 100 in a /48, and another /48 creates its own", function* () {
    const servers = yield* Servers
    const customer = (which: number) => atOnce(servers, 40, (url, index) => create(url, address("a", which, index)))
    const first = yield* customer(1)
    assertFilled(first)
    assert.match(said(refused(first)[0]), /limit of 20 new rooms per hour from one \/56 network is reached/u)
    const others = [yield* customer(2), yield* customer(3), yield* customer(4), yield* customer(5)]
    for (const answers of others) assertFilled(answers)
    const beyond = yield* customer(6)
    assert.strictEqual(accepted(beyond).length, 0)
    assert.match(said(beyond[0]), /limit of 100 new rooms per hour from one \/48 network is reached/u)
    assert.strictEqual((yield* create(servers[0], address("b", 1, 1))).status, 201)
    assert.deepStrictEqual(yield* keptOf("room-creations-48"), [100, 1])
  })

  it("send 80 signals a minute in a /56, and refusals count nothing for an address", function* () {
    const servers = yield* Servers
    const db = yield* SqlClient.SqlClient
    const guests = yield* Effect.forEach(Array.from({ length: 5 }), () => newRoom(servers[0]))
    const sendFrom = (url: string, index: number, who: string) => {
      const guest = guests[index % 5]
      return guest === undefined ? Effect.die("no room") : send({ ...guest, url }, {}, who)
    }
    const answers = yield* atOnce(servers, 100, (url, index) => sendFrom(url, index, address("c", 1, index % 50)))
    assert.strictEqual(accepted(answers).length, 80)
    for (const answer of refused(answers)) {
      assert.match(said(answer), /limit of 80 sends per minute from one \/56 network is reached/u)
      assert.include(answer.headers.get("ratelimit-policy") ?? "", '"sends-56";q=80;w=60')
    }
    const fresh = address("c", 1, 200)
    assert.strictEqual((yield* sendFrom(servers[0], 0, fresh)).status, 429)
    yield* db`UPDATE rate_limits_56 SET hits = ARRAY(SELECT h - interval '1 minute' FROM unnest(hits) AS h)`
    yield* db`UPDATE rooms SET sent = '{}'`
    const next = yield* sendFrom(servers[0], 0, fresh)
    assert.match(next.headers.get("ratelimit") ?? "", /^"sends";r=19;/u)
  })

  it("keep their share when one of them exceeds its own", function* () {
    const servers = yield* Servers
    const guest = yield* newRoom(servers[0])
    const loud = address("d", 1, 1)
    const sendLoud = Effect.map(send(guest, {}, loud), ({ status }) => status)
    const statuses = yield* Effect.forEach(Array.from({ length: 60 }), () => sendLoud)
    assert.strictEqual(statuses.filter((status) => status === 201).length, 20)
    const db = yield* SqlClient.SqlClient
    const [row] = yield* db<{ n: number }>`
        SELECT count(*)::int AS n FROM rate_limits_48 WHERE key LIKE 'room-sends-48:%' AND cardinality(hits) = 20`
    assert.strictEqual(row?.n, 1)
    const neighbours = Array.from({ length: 5 }, (_, index) => address("d", 1, index + 2))
    const rooms = yield* Effect.forEach(neighbours, () => newRoom(servers[0]))
    const heard = yield* Effect.forEach(neighbours, (who, index) => send(rooms[index] ?? guest, {}, who))
    assert.strictEqual(accepted(heard).length, 5)
  })
})
