/** An operator's first hour: an empty database, a check, a start, a sale, and connections that a firewall forgets. */
import { assert, layer } from "../lab/It.ts"
import { Effect, Layer, Redacted } from "effect"
import { LocalDatabase } from "../../src/sandbox/LocalDatabase.ts"
import { buyAt, prepareAt, send } from "../lab/buyer/Purchase.ts"
import { chain } from "../lab/Chain.ts"
import { commandRun } from "../lab/CommandRun.ts"
import { emptyDatabase } from "../lab/Database.ts"
import { ask, becomes, realClock } from "../lab/Fixture.ts"
import { patience } from "../lab/Patience.ts"
import { main, run } from "../lab/Process.ts"
import * as Silence from "../lab/proxy/Silence.ts"
import { direct, make } from "../lab/server/ServerProcess.ts"

/** A request whose answer comes within two seconds of a quiet machine. */
const probe = (address: string) =>
  ask(address).pipe(Effect.timeoutOrElse({ duration: patience(2), orElse: () => Effect.die(`${address} hangs`) }))

layer(Layer.merge(chain, emptyDatabase), realClock)("an operator", (it) => {
  it.effect("checks, starts, migrates, sells, sees in probes that the database is away, and sells again", function* () {
    const { url: database } = yield* LocalDatabase
    const relay = yield* Silence.make(Redacted.value(database))
    const settings = { ...(yield* direct), DATABASE_URL: relay.url, NODE_ENV: "production" }
    const check = (env: Readonly<Record<string, string>>) =>
      Effect.promise(() => run([main, "serve", "--check"], { env: { PATH: process.env["PATH"], ...env } }).ended)

    // The first settings have a typing error in the node's address: the check names the variable.
    const mistyped = yield* check({ ...settings, RPC_URL: "http://127.0.0.1:1" })
    assert.strictEqual(mistyped.code, 1)
    assert.match(mistyped.stderr, /^The node of RPC_URL cannot be used/mu)
    const checked = yield* check(settings)
    assert.strictEqual(checked.code, 0, checked.stderr)

    // The start makes the tables, and the first stone is sold.
    const server = yield* make({ ...settings, TEST_SWEEP_SECONDS: "2" })
    yield* server.start
    const { url } = server
    yield* becomes(`${url}/readyz`, 200, { ready: true, database: "ok" })
    const first = yield* buyAt(url)
    assert.strictEqual(first.record.sequence, 1)

    // A firewall forgets every open connection. Each probe answers at once: only the process is well.
    const silenced = yield* relay.silence
    assert.isAbove(silenced, 0)
    for (const [path, status] of [
      ["/livez", 200],
      ["/readyz", 503],
      ["/readyz?for=reads", 503],
      ["/api/health", 503],
    ] as const) {
      const answer = yield* probe(url + path)
      assert.strictEqual(answer.status, status, `${path} ${answer.text}`)
      if (status === 503) assert.strictEqual(answer.json["database"], "failing", path)
    }

    // Without a restart, the server makes new connections by itself.
    yield* becomes(`${url}/readyz`, 200)
    assert.strictEqual((yield* send(first)).status, 200, "what was sold is answered as before")
    const second = yield* send(yield* prepareAt(url))
    assert.strictEqual(second.status, 201, second.text)

    // The operator pauses sales, sees it in the probes, and sells on.
    const admin = (...args: ReadonlyArray<string>) => commandRun(["admin", ...args], settings)
    assert.strictEqual((yield* admin("pause", "--why", "lunch")).code, 0)
    yield* becomes(`${url}/readyz`, 503, { payments: "paused", ready: false })
    yield* becomes(`${url}/readyz?for=reads`, 200)
    assert.strictEqual((yield* admin("resume", "--why", "back")).code, 0)
    yield* becomes(`${url}/readyz`, 200)
    assert.strictEqual((yield* buyAt(url)).record.sequence, 3)
    yield* server.signal("SIGTERM")
    assert.strictEqual(yield* server.ended, 0, server.output())
  })
})
