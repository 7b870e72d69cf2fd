/** `serve --workers 2`: two processes behind one port, each replaced when it dies, all ended with the one that started them. */
import { Effect, Redacted } from "effect"
import { LocalDatabase } from "../../src/sandbox/LocalDatabase.ts"
import { main, run } from "../lab/Process.ts"
import { descendantsOf, isAlive } from "../lab/Processes.ts"
import { database } from "../lab/Database.ts"
import { until } from "../lab/Eventually.ts"
import { freePort } from "../lab/Ports.ts"
import { ask } from "../lab/Fixture.ts"
import { assert, suite } from "../lab/Suites.ts"

const childrenOf = (pid: number) => descendantsOf(pid).map((one) => one.pid)

/** The command with two workers; killed with the scope, as its workers end by themselves. */
const started = Effect.fnUntraced(function* (env: Readonly<Record<string, string>>) {
  const port = String(yield* freePort)
  const one = yield* Effect.acquireRelease(
    Effect.sync(() =>
      run([main, "serve", "--workers", "2"], {
        env: { PATH: process.env["PATH"] ?? "", HOST: "127.0.0.1", PORT: port, ...env },
      }),
    ),
    ({ kill }) => Effect.promise(kill),
  )
  return { ...one, url: `http://127.0.0.1:${port}` }
})

suite("serve --workers 2", database, (it) => {
  it("serves by two processes, replaces one that dies, and ends both with 0", function* () {
    const metrics = yield* freePort
    const database = Redacted.value((yield* LocalDatabase).url)
    const server = yield* started({ METRICS_PORT: String(metrics), DATABASE_URL: database })
    const { url } = server
    yield* Effect.promise(() => server.says("server listening", 2))
    const [first = 0, ...others] = childrenOf(server.pid)
    assert.strictEqual(others.length, 1)

    // Each connection goes to the next one, and each counts what it answered.
    for (let index = 0; index < 8; index += 1)
      assert.strictEqual((yield* ask(`${url}/api/health`, { headers: { connection: "close" } })).status, 200)
    const counted = yield* Effect.forEach([metrics, metrics + 1], (at) =>
      Effect.map(ask(`http://127.0.0.1:${at}/metrics`), ({ text }) =>
        [...text.matchAll(/^http_server_request_duration[\w]*_count\{[^}]*health[^}]*\} (\d+)/gmu)].reduce(
          (sum, [, count]) => sum + Number(count),
          0,
        ),
      ),
    )
    assert.strictEqual((counted[0] ?? 0) + (counted[1] ?? 0), 8)
    for (const count of counted) assert.isAbove(count, 0)

    process.kill(first, "SIGKILL")
    yield* Effect.promise(() => server.says("server listening", 3))
    const now = childrenOf(server.pid)
    assert.deepStrictEqual([now.length, now.includes(first)], [2, false])
    assert.strictEqual((yield* ask(`${url}/api/health`)).status, 200)

    server.signal("SIGTERM")
    assert.strictEqual((yield* Effect.promise(() => server.ended)).code, 0)
    assert.deepStrictEqual(now.filter(isAlive), [])
  })

  it("exits with the workers' error when none can start", function* () {
    const server = yield* started({ DATABASE_URL: "altar" })
    assert.strictEqual((yield* Effect.promise(() => server.ended)).code, 1)
    assert.match(server.output(), /^DATABASE_URL is wrong: /mu)
    assert.match(server.output(), /^A worker could not start, so none serves\.$/mu)
  })

  it("leaves no worker when it is killed without warning", function* () {
    const server = yield* started({ DATABASE_URL: Redacted.value((yield* LocalDatabase).url) })
    yield* Effect.promise(() => server.says("server listening", 2))
    const workers = childrenOf(server.pid)
    assert.strictEqual(workers.length, 2)
    server.signal("SIGKILL")
    yield* Effect.sync(() => workers.filter(isAlive)).pipe(until("workers stay", (left) => left.length === 0))
  })
})
