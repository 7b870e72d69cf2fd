/** A whole server whose log waits after a start: it sells, says what it waits for, and goes on when an operator confirms. */
import { existsSync } from "node:fs"
import { join } from "node:path"
import { Effect, Layer, Logger, Option, Redacted, References } from "effect"
import { AppConfig } from "../../src/server/config/Config.ts"
import { LocalDatabase } from "../../src/sandbox/LocalDatabase.ts"
import * as Server from "../../src/server/Server.ts"
import { terminal } from "../lab/Terminal.ts"
import { signing } from "../lab/log/LogFixture.ts"
import { ask, configOf, newCommitment, newPayer, pay, TestServer } from "../lab/Fixture.ts"
import { until } from "../lab/Eventually.ts"
import { place } from "../lab/log/LogServer.ts"
import { assert, suite } from "../lab/Suites.ts"
import { newFolder } from "../lab/Folders.ts"

const lines: Array<unknown> = []
const heard = Logger.layer([
  Logger.make(({ fiber, logLevel, message }) => {
    lines.push([logLevel, JSON.stringify(message), fiber.getRef(References.CurrentLogAnnotations)["log"]])
  }),
])

/** Runs `use` against a server that is started for it, with this checkpoint file. */
const withServer = <A, E, R>(file: string, use: (url: string) => Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const log = { ...signing, checkpointFile: Option.some(file) }
    const config = yield* configOf({}, { log })
    return yield* Effect.provide(
      use(config.publicUrl),
      Server.layer(Layer.empty).pipe(
        Layer.provide(Layer.succeed(AppConfig, config)),
        Layer.provide(heard),
        Layer.orDie,
        Layer.fresh,
      ),
    )
  })

const sell = Effect.fnUntraced(function* (url: string) {
  const { answer } = yield* pay(yield* newPayer(), `${url}/api/witness`, { commitment: newCommitment() })
  assert.strictEqual(answer.status, 201, answer.text)
})

const untilSo = (url: string, isSo: (json: Readonly<Record<string, unknown>>) => boolean) =>
  ask(url).pipe(until("it never came to that", ({ json }) => isSo(json)))

suite("a server without the checkpoint file of its log", place, (it) => {
  it("sells, and says everywhere that its log waits, until an operator confirms its head", function* ({ sql }) {
    const folder = newFolder()
    const { url: databaseUrl } = yield* LocalDatabase
    const root = yield* withServer(join(folder, "first"), (url) =>
      Effect.gen(function* () {
        yield* sell(url)
        const covered = yield* untilSo(`${url}/api/witness/log`, ({ size }) => size === 1)
        assert.strictEqual(covered.json["state"], "running")
        yield* untilSo(`${url}/api/acts/log`, ({ size }) => size === 1)
        assert.deepStrictEqual((yield* ask(`${url}/api/health`)).json["log"], { state: "running", waitsFor: null })
        return String(covered.json["root"])
      }),
    )
    const file = join(folder, "second")
    yield* withServer(file, (url) =>
      Effect.gen(function* () {
        const waitsFor = "LOG_CHECKPOINT_FILE, which holds no checkpoint, to confirm the checkpoint of size 1"
        yield* untilSo(`${url}/api/witness/log`, ({ state }) => state === "waiting")
        yield* sell(url)
        yield* sell(url)
        yield* untilSo(`${url}/api/acts/log`, ({ state }) => state === "waiting")
        const health = yield* ask(`${url}/api/health`)
        const ready = yield* ask(`${url}/readyz`)
        for (const { json, status } of [health, ready]) {
          const waiting = { state: "waiting", waitsFor }
          assert.deepStrictEqual([status, json["log"], json["actLog"]], [200, waiting, waiting])
        }
        for (const log of ["stones", "acts"])
          assert.deepInclude(lines, ["Warn", JSON.stringify(["log waiting", { evidence: waitsFor }]), log])
        assert.strictEqual((yield* ask(`${url}/api/witness/log`)).json["size"], 1)

        const at = yield* Effect.provideService(terminal, TestServer, { url })
        const env = { DATABASE_URL: Redacted.value(databaseUrl), LOG_CHECKPOINT_FILE: file }
        const asked = yield* at.run(["log", "confirm"], env)
        assert.strictEqual(asked.code, 1)
        assert.include(asked.stderr, `covers 1 stones and has the root ${root}`)
        const mistaken = yield* at.run(
          ["log", "confirm", "--root", `${root.startsWith("A") ? "B" : "A"}${root.slice(1)}`],
          env,
        )
        assert.strictEqual(mistaken.code, 1)
        assert.isFalse(existsSync(file))
        const confirmed = yield* at.run(["log", "confirm", "--root", root], env)
        assert.strictEqual(confirmed.code, 0, confirmed.stderr)
        yield* untilSo(`${url}/api/witness/log`, ({ size }) => size === 3)
        yield* untilSo(`${url}/api/health`, ({ log }) => JSON.stringify(log).includes("running"))

        // The log over all acts waits on its own, until its own head is confirmed.
        const { actLog } = (yield* ask(`${url}/api/health`)).json
        assert.deepInclude(actLog, { state: "waiting" })
        const ofActs = yield* at.run(["log", "confirm", "--acts"], env)
        const [, head = ""] = /covers 1 acts and has the root (\S+)\./u.exec(ofActs.stderr) ?? []
        const given = yield* at.run(["log", "confirm", "--acts", "--root", head], env)
        assert.strictEqual(given.code, 0, ofActs.stderr + given.stderr)
        yield* untilSo(`${url}/api/acts/log`, ({ size }) => size === 3)
        yield* sql`UPDATE log_head SET stopped_reason = 'act 1 is not the one that the log holds', stopped_at = now() WHERE id = 2`
        yield* untilSo(`${url}/api/acts/log`, ({ state }) => state === "stopped")
        assert.strictEqual((yield* ask(`${url}/api/witness/log`)).json["state"], "running")
        assert.include((yield* at.run(["log", "resume", "--acts"], env)).stdout, "because act 1 is not")
        yield* untilSo(`${url}/api/acts/log`, ({ state }) => state === "running")
      }),
    )
  })
})
