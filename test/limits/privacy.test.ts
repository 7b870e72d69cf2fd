/** No address is stored or logged, and all servers make the same pseudonym of it. */
import { assert, layer } from "../lab/It.ts"
import { Effect, Layer, Logger, Option } from "effect"
import { HttpServerRequest } from "effect/http"
import { SqlClient } from "effect/sql"
import { ClientAddress } from "../../src/limits/ClientAddress.ts"
import { from, rooms, newRoom, poll, sendSignal } from "../lab/server/Rooms.ts"
import { ask, realClock, TestServer } from "../lab/Fixture.ts"
import { assertNone } from "../lab/Assertions.ts"

const address = "203.0.113.77"
const lines: Array<string> = []
const captured = Logger.layer([
  Logger.map(Logger.formatJson, (line) => void lines.push(line)),
  Logger.map(Logger.formatLogFmt, (line) => void lines.push(line)),
])

const pseudonym = (remote: string) =>
  Effect.gen(function* () {
    const addresses = yield* ClientAddress
    const request = HttpServerRequest.fromWeb(new Request("http://x/")).modify({ remoteAddress: Option.some(remote) })
    return addresses.of(request)
  }).pipe(Effect.provide(ClientAddress.layer({ trustedProxies: [] })))

layer(rooms().pipe(Layer.provideMerge(captured)), realClock)("a client's address", (it) => {
  it.effect("is stored in no table and no log, not even after a failure", function* () {
    const { url } = yield* TestServer
    const sql = yield* SqlClient.SqlClient
    const guest = yield* newRoom(url)
    yield* ask(`${url}/api/rooms`, { method: "POST", headers: from(address) })
    yield* sendSignal(guest, {}, address)
    yield* poll(guest, "", address)
    yield* sql`ALTER TABLE rooms RENAME TO elsewhere`
    assert.strictEqual((yield* poll(guest, "", address)).status, 500)
    yield* sql`ALTER TABLE elsewhere RENAME TO rooms`
    assert.isAbove(lines.filter((line) => line.includes("request failed")).length, 0)
    assertNone(lines, (line) => line.includes(address))
    const tables = yield* sql<{ name: string }>`
        SELECT relname::text AS name FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace`
    assert.isAbove(tables.length, 5)
    for (const { name } of tables) {
      const found = yield* sql<{ n: number }>`
          SELECT count(*)::int AS n FROM ${sql(name)} AS t WHERE t::text LIKE ${`%${address}%`}`
      assert.strictEqual(found[0]?.n, 0, name)
    }
    const [limits] = yield* sql<{ n: number }>`SELECT count(*)::int AS n FROM rate_limits`
    assert.isAbove(limits?.n ?? 0, 2)
  })

  it.effect("has one pseudonym on every server of a database, and another under another secret", function* () {
    const sql = yield* SqlClient.SqlClient
    const one = yield* pseudonym(address)
    assert.match(one, /^[A-Za-z0-9_-]{43}$/u)
    assert.strictEqual(yield* pseudonym(address), one)
    assert.notStrictEqual(yield* pseudonym("203.0.113.78"), one)
    yield* sql`UPDATE rate_limit_secret SET secret = 'another one'`
    assert.notStrictEqual(yield* pseudonym(address), one)
    assert.strictEqual(yield* pseudonym("2001:db8:1:2::1"), yield* pseudonym("2001:db8:1:2:3::4"))
  })
})
