/** `serve --workers 2`: two processes behind one port, each replaced when it dies, all ended with the one that started them. */
import { Effect, Redacted } from "effect"
import { LocalDatabase } from "../../src/sandbox/LocalDatabase.ts"
import { main, run } from "../lab/Process.ts"
import { descendantsOf, isAlive } from "../lab/Processes.ts"
import { database } from "../lab/Database.ts"
import { until } from "../lab/Eventually.ts"
import { freePort } from "../lab/Ports.ts"
import { ask } from "../lab/Fixture.ts"
import { apart, assert } from "../lab/Suites.ts"

const childrenOf = (pid: number) => descendantsOf(pid).map((one) => one.pid)

const sumOf = (counts: ReadonlyArray<number>) => counts.reduce((sum, count) => sum + count, 0)

/** The command with two workers at ports of its own: the second one's metrics are at the next. Without it they end by themselves. */
const started = Effect.fnUntraced(function* (env: Readonly<Record<string, string>> = {}) {
  const [port, metrics] = yield* Effect.all([freePort, freePort, freePort], { concurrency: "unbounded" })
  const { url } = yield* LocalDatabase
  const own = {
    PATH: process.env["PATH"] ?? "",
    HOST: "127.0.0.1",
    PORT: String(port),
    METRICS_PORT: String(metrics),
    DATABASE_URL: Redacted.value(url),
  }
  const server = yield* Effect.acquireRelease(
    Effect.sync(() => run([main, "serve", "--workers", "2"], { env: { ...own, ...env } })),
    ({ kill }) => Effect.promise(kill),
  )
  return {
    ...server,
    url: `http://127.0.0.1:${port}`,
    metrics,
    /** Its exit code, once all that it wrote was read. */
    code: Effect.map(
      Effect.promise(() => server.ended),
      ({ code }) => code,
    ),
    /** Waits until so many workers have said that they listen. */
    listens: (often: number) => Effect.promise(() => server.says("server listening", often)),
  }
})

apart("serve --workers 2", database, (it) => {
  it("serves by two processes, replaces one that dies, and ends both with 0", function* () {
    const server = yield* started()
    const { metrics, url } = server
    yield* server.listens(2)
    const [first = 0, ...others] = childrenOf(server.pid)
    assert.strictEqual(others.length, 1)

    // Each connection goes to the next one, and each counts what it answered.
    for (let index = 0; index < 8; index += 1)
      assert.strictEqual((yield* ask(`${url}/api/health`, { headers: { connection: "close" } })).status, 200)
    const counted = yield* Effect.forEach([metrics, metrics + 1], (at) =>
      Effect.map(ask(`http://127.0.0.1:${at}/metrics`), ({ text }) =>
        sumOf(
          [...text.matchAll(/^http_server_request_duration[\w]*_count\{[^}]*health[^}]*\} (\d+)/gmu)].map(([, n]) =>
            Number(n),
          ),
        ),
      ),
    )
    assert.strictEqual(sumOf(counted), 8)
    for (const count of counted) assert.isAbove(count, 0)

    process.kill(first, "SIGKILL")
    yield* server.listens(3)
    const now = childrenOf(server.pid)
    assert.deepStrictEqual([now.length, now.includes(first)], [2, false])
    assert.strictEqual((yield* ask(`${url}/api/health`)).status, 200)

    server.signal("SIGTERM")
    assert.strictEqual(yield* server.code, 0)
    assert.deepStrictEqual(now.filter(isAlive), [])
  })

  it("exits with the workers' error when none can start", function* () {
    const server = yield* started({ DATABASE_URL: "altar" })
    assert.strictEqual(yield* server.code, 1)
    assert.match(server.output(), /^DATABASE_URL is wrong: /mu)
    assert.match(server.output(), /^A worker could not start, so none serves\.$/mu)
  })

  it("leaves no worker when it is killed without warning", function* () {
    const server = yield* started()
    yield* server.listens(2)
    const workers = childrenOf(server.pid)
    assert.strictEqual(workers.length, 2)
    server.signal("SIGKILL")
    yield* Effect.sync(() => workers.filter(isAlive)).pipe(until("workers stay", (left) => left.length === 0))
  })
})
