/** `serve --workers 2`: two processes behind one port, each replaced when it dies, all ended with the one that started them. */
import { execFileSync } from "node:child_process"
import { assert } from "@effect/vitest"
import { Effect, Redacted, Schedule } from "effect"
import { LocalDatabase } from "../../src/sandbox/LocalDatabase.ts"
import { main, run } from "../lab/Process.ts"
import { database } from "../lab/Database.ts"
import { patience } from "../lab/Patience.ts"
import { freePort } from "../lab/Ports.ts"
import { ask } from "../lab/Fixture.ts"
import { suite } from "../lab/Suites.ts"

const childrenOf = (pid: number) =>
  execFileSync("ps", ["-A", "-o", "pid=,ppid=,stat="], { encoding: "utf8" })
    .trim()
    .split("\n")
    .flatMap((line) => {
      const [child, parent, state = ""] = line.trim().split(/\s+/u)
      return Number(parent) === pid && !state.startsWith("Z") ? [Number(child)] : []
    })

const isAlive = (pid: number) =>
  Effect.match(
    Effect.try(() => process.kill(pid, 0)),
    { onFailure: () => false, onSuccess: () => true },
  )

/** The command with two workers, and all it says; killed with the scope. */
const started = Effect.fnUntraced(function* (env: Readonly<Record<string, string>>) {
  const { ended, kill, output, pid, says, signal } = yield* Effect.acquireRelease(
    Effect.sync(() =>
      run([main, "serve", "--workers", "2"], {
        env: { PATH: process.env["PATH"] ?? "", HOST: "127.0.0.1", ...env },
      }),
    ),
    // Without it the workers end by themselves.
    (one) => Effect.promise(one.kill),
  )
  return {
    pid,
    kill,
    signal,
    ended: Effect.map(
      Effect.promise(() => ended),
      ({ code }) => code,
    ),
    /** Waits until it has said this so many times. */
    says: (text: string, often: number) => Effect.promise(() => says(text, often)),
    output,
  }
})

suite("serve --workers 2", database, (it) => {
  it("serves by two processes, replaces one that dies, and ends both with 0", function* () {
    const port = yield* freePort
    const metrics = yield* freePort
    const url = `http://127.0.0.1:${port}`
    const server = yield* started({
      PORT: String(port),
      METRICS_PORT: String(metrics),
      PUBLIC_URL: url,
      DATABASE_URL: Redacted.value((yield* LocalDatabase).url),
    })
    yield* server.says("server listening", 2)
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
    assert.strictEqual(
      counted.reduce((sum, count) => sum + count, 0),
      8,
    )
    for (const count of counted) assert.isAbove(count, 0)

    process.kill(first, "SIGKILL")
    yield* server.says("server listening", 3)
    const now = childrenOf(server.pid)
    assert.deepStrictEqual([now.length, now.includes(first)], [2, false])
    assert.strictEqual((yield* ask(`${url}/api/health`)).status, 200)

    server.signal("SIGTERM")
    assert.strictEqual(yield* server.ended, 0)
    assert.deepStrictEqual(yield* Effect.filter(now, isAlive), [])
  })

  it("exits with the workers' error when none can start", function* () {
    const port = yield* freePort
    const server = yield* started({ PORT: String(port), DATABASE_URL: "altar" })
    assert.strictEqual(yield* server.ended, 1)
    assert.match(server.output(), /^DATABASE_URL is wrong: /mu)
    assert.match(server.output(), /^A worker could not start, so none serves\.$/mu)
  })

  it("leaves no worker when it is killed without warning", function* () {
    const port = yield* freePort
    const server = yield* started({
      PORT: String(port),
      DATABASE_URL: Redacted.value((yield* LocalDatabase).url),
    })
    yield* server.says("server listening", 2)
    const workers = childrenOf(server.pid)
    assert.strictEqual(workers.length, 2)
    server.signal("SIGKILL")
    const left = yield* Effect.filter(workers, isAlive).pipe(
      Effect.repeat({
        schedule: Schedule.spaced("50 millis").pipe(Schedule.upTo({ duration: patience(20) })),
        while: (living) => living.length > 0,
      }),
    )
    assert.deepStrictEqual(left, [])
  })
})
