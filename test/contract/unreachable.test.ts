/** A starting server answers too. A database that cannot be reached is said at once, without its password, and asked again until it answers. */
import { request } from "node:http"
import { assert, layer } from "../lab/It.ts"
import { Effect, Fiber, Redacted, Schedule } from "effect"
import { LocalDatabase } from "../../src/sandbox/LocalDatabase.ts"
import { database } from "../lab/Database.ts"
import * as PgProxy from "../lab/proxy/Postgres.ts"
import { openConnection } from "../lab/Connection.ts"
import * as ServerProcess from "../lab/server/ServerProcess.ts"
import { becomes, realClock } from "../lab/Fixture.ts"
import { assertNone } from "../lab/Assertions.ts"

const linesOf = (output: string, text: string) => output.split("\n").filter((one) => one.includes(text))

const real = Effect.map(LocalDatabase, ({ url }) => Redacted.value(url))

const stops = Effect.fnUntraced(function* (server: ServerProcess.ServerProcess) {
  yield* server.signal("SIGTERM")
  assert.strictEqual(yield* server.ended, 0, server.output())
})

const serves = Effect.fnUntraced(function* (server: ServerProcess.ServerProcess) {
  yield* becomes(`${server.url}/api/health`, 200)
  yield* stops(server)
})

/** The status, or null while the port is closed; a request that is accepted and never answered never ends. */
const knock = (url: string) =>
  Effect.callback<number | null>((resume) => {
    const sent = request(`${url}/api/health`, { agent: false }, (response) => {
      response.resume()
      response.once("end", () => resume(Effect.succeed(response.statusCode ?? 0)))
    })
    sent.once("error", () => resume(Effect.succeed(null)))
    sent.end()
  })

layer(database, realClock)("a starting server", (it) => {
  it.effect("answers every caller during its start: first not ready, then ready", function* () {
    const server = yield* ServerProcess.make({ DATABASE_URL: yield* real })
    const starting = yield* Effect.forkChild(server.start)
    const knocks: Array<Fiber.Fiber<number | null>> = []
    yield* Effect.forkChild(knock(server.url)).pipe(
      Effect.map((one) => knocks.push(one)),
      Effect.repeat({ schedule: Schedule.spaced("2 millis"), until: () => starting.pollUnsafe() !== undefined }),
    )
    yield* Fiber.join(starting)
    const answered = (yield* Effect.forEach(knocks, Fiber.join)).filter((status) => status !== null)
    assert.isNotEmpty(answered)
    assertNone(answered, (status) => status !== 200 && status !== 503)
    assert.strictEqual(yield* knock(server.url), 200)
  })
})

layer(database, realClock)("a database that is unreachable at start", (it) => {
  it.effect("is waited for when it disconnects in the middle of a start, too", function* () {
    const proxy = yield* PgProxy.make(yield* real)
    const trap = proxy.arm(/FROM spirit_altar_migrations/u, "cutBefore")
    const server = yield* ServerProcess.serving({ DATABASE_URL: proxy.url })
    yield* trap.arrived
    yield* server.says("database lost during start")
    yield* proxy.calm
    yield* server.says("server listening")
    yield* serves(server)
  })

  it.effect("does not keep a server from stopping, nor does half a request", function* () {
    const server = yield* ServerProcess.serving({
      DATABASE_URL: "postgres://altar:hush-hush@127.0.0.1:9/altar?password=hush-hush",
    })
    yield* server.says('"database unreachable","database":"127.0.0.1:9/altar"')
    const half = yield* openConnection(server.port)
    yield* half.write("GET /api/spirits HTTP/1.1\r\nhost: al")
    yield* stops(server)
    assert.strictEqual(linesOf(server.output(), "ECONNREFUSED").length, 1, "it says why")
    assert.notInclude(server.output(), "hush-hush")
  })
})
