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
        yield* untilSo(`${url}/api/acts/log`, ({ size }) => size === 1)
        assert.deepStrictEqual((yield* ask(`${url}/api/health`)).json["log"], { state: "running", waitsFor: null })
        return String(covered.json["root"])
      }),
    )
    const file = join(folder, "second")
    yield* withServer(file, (url) =>
      Effect.gen(function* () {
        const at = yield* Effect.provideService(terminal, TestServer, { url })
        const command = (...args: ReadonlyArray<string>) =>
          at.run(["log", ...args], { DATABASE_URL: Redacted.value(databaseUrl), LOG_CHECKPOINT_FILE: file })
        const waitsFor = "LOG_CHECKPOINT_FILE, which holds no checkpoint, to confirm the checkpoint of size 1"
        yield* untilSo(`${url}/api/witness/log`, ({ state }) => state === "waiting")
        for (const _ of [1, 2]) yield* sell(url)
        yield* untilSo(`${url}/api/acts/log`, ({ state }) => state === "waiting")
        const waiting = { state: "waiting", waitsFor }
        for (const path of ["/api/health", "/readyz"]) {
          const { json, status } = yield* ask(`${url}${path}`)
          assert.deepStrictEqual([status, json["log"], json["actLog"]], [200, waiting, waiting], path)
        }
        for (const log of ["stones", "acts"])
          assert.deepInclude(lines, ["Warn", JSON.stringify(["log waiting", { evidence: waitsFor }]), log])
        assert.strictEqual((yield* ask(`${url}/api/witness/log`)).json["size"], 1)

        const asked = yield* command("confirm")
        assert.include(asked.stderr, `covers 1 stones and has the root ${root}`)
        const mistaken = yield* command("confirm", "--root", `${root.startsWith("A") ? "B" : "A"}${root.slice(1)}`)
        assert.deepStrictEqual([asked.code, mistaken.code, existsSync(file)], [1, 1, false])
        assert.strictEqual((yield* command("confirm", "--root", root)).code, 0)
        yield* untilSo(`${url}/api/witness/log`, ({ size }) => size === 3)

        // The log over all acts waits on its own, until its own head is confirmed, and stops on its own.
        assert.deepInclude((yield* ask(`${url}/api/health`)).json["actLog"], { state: "waiting" })
        const ofActs = yield* command("confirm", "--acts")
        const [, head = ""] = /covers 1 acts and has the root (\S+)\./u.exec(ofActs.stderr) ?? []
        assert.strictEqual((yield* command("confirm", "--acts", "--root", head)).code, 0, ofActs.stderr)
        yield* untilSo(`${url}/api/acts/log`, ({ size }) => size === 3)
        assert.include((yield* command("status", "--acts")).stdout, "tree        3 acts; 0 behind")
        yield* sql`UPDATE log_head SET stopped_reason = 'act 1 is not the one that the log holds', stopped_at = now() WHERE id = 2`
        yield* untilSo(`${url}/api/acts/log`, ({ state }) => state === "stopped")
        assert.strictEqual((yield* ask(`${url}/api/witness/log`)).json["state"], "running")
        assert.include((yield* command("resume", "--acts")).stdout, "because act 1 is not")
        yield* untilSo(`${url}/api/acts/log`, ({ state }) => state === "running")
      }),
    )
  })
})
