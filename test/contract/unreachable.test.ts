/** A database that cannot be reached when the server starts is said at once, without its password, and asked again until it answers. */
import { connect, createServer } from "node:net"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { LocalDatabase } from "../../src/sandbox/LocalDatabase.ts"
import { database } from "../lab/Database.ts"
import * as PgProxy from "../lab/proxy/Postgres.ts"
import { line } from "../lab/Connection.ts"
import { serving } from "../lab/server/ServerProcess.ts"
import { freePort } from "../lab/Ports.ts"
import { ask } from "../lab/Fixture.ts"

const get = "GET /api/spirits HTTP/1.1\r\nhost: altar\r\n\r\n"

/** From now on, whoever asks at this port reaches the database. */
const forward = (port: number, to: URL) =>
  Effect.acquireRelease(
    Effect.callback<ReturnType<typeof createServer>>((resume) => {
      const server = createServer((client) => {
        const upstream = connect(Number(to.port), to.hostname)
        client.pipe(upstream)
        upstream.pipe(client)
        for (const socket of [client, upstream]) {
          socket.on("error", () => {
            client.destroy()
            upstream.destroy()
          })
        }
      })
      server.listen(port, "127.0.0.1", () => resume(Effect.succeed(server)))
    }),
    (server) => Effect.sync(() => server.close()),
  )

const linesOf = (output: string, text: string) => output.split("\n").filter((one) => one.includes(text))

layer(Layer.orDie(database), { excludeTestServices: true })("a database that cannot be reached at start", (it) => {
  it.effect("is said once and without secrets, and the server starts when it answers", () =>
    Effect.gen(function* () {
      const real = new URL(Redacted.value((yield* LocalDatabase).url))
      const port = yield* freePort
      const url = new URL(real)
      url.hostname = "127.0.0.1"
      url.port = String(port)
      const server = yield* serving({ DATABASE_URL: url.href })
      yield* server.says(`The database at 127.0.0.1:${port}${real.pathname} cannot be reached`)
      const early = yield* line(server.port)
      const refused = yield* early.ask(get)
      assert.match(refused, /^HTTP\/1\.1 503 /u)
      assert.match(refused, /\r\nretry-after: 1\r\n/iu)
      // Long enough to be asked again, and to be silent about it.
      yield* Effect.sleep("2500 millis")
      yield* forward(port, real)
      const output = yield* server.says("Listening on")
      assert.strictEqual(linesOf(output, "cannot be reached").length, 1, output)
      assert.strictEqual(linesOf(output, "ECONNREFUSED").length, 1, "it says why")
      assert.strictEqual(linesOf(output, `${real.pathname} answers`).length, 1, output)
      assert.notInclude(output, `${real.username}:${real.password}`)
      assert.notInclude(output, url.href)
      assert.strictEqual((yield* ask(`${server.url}/api/health`)).status, 200)
      yield* server.signal("SIGTERM")
      assert.strictEqual(yield* server.ended, 0, server.output())
    }).pipe(Effect.scoped),
  )

  it.effect("is waited for when it leaves in the middle of a start, too", () =>
    Effect.gen(function* () {
      const proxy = yield* PgProxy.make(Redacted.value((yield* LocalDatabase).url))
      const trap = proxy.arm(/FROM effect_sql_migrations/u, "cutBefore")
      const server = yield* serving({ DATABASE_URL: proxy.url })
      yield* trap.arrived
      yield* server.says("The database left while the server started")
      yield* proxy.calm
      yield* server.says("Listening on")
      assert.strictEqual((yield* ask(`${server.url}/api/health`)).status, 200)
      yield* server.signal("SIGTERM")
      assert.strictEqual(yield* server.ended, 0, server.output())
    }).pipe(Effect.scoped),
  )

  it.effect("does not keep a server from stopping, and neither does half a request", () =>
    Effect.gen(function* () {
      const server = yield* serving({ DATABASE_URL: "postgres://altar:hush-hush@127.0.0.1:9/altar?password=hush-hush" })
      yield* server.says("The database at 127.0.0.1:9/altar cannot be reached")
      const half = yield* line(server.port)
      yield* half.write("GET /api/spirits HTTP/1.1\r\nhost: al")
      yield* server.signal("SIGTERM")
      assert.strictEqual(yield* server.ended, 0, server.output())
      assert.notInclude(server.output(), "hush-hush")
    }).pipe(Effect.scoped),
  )
})
