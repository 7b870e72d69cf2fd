/** A log over paid stones: each is proved to programs and people, and the log waits, stops and continues. */
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, layer } from "../lab/It.ts"
import { Context, Effect, Layer, Redacted, Result } from "effect"
import { SqlClient } from "effect/sql"
import { generate } from "../../src/log/Signer.ts"
import { buyAt } from "../lab/buyer/Purchase.ts"
import { chain } from "../lab/Chain.ts"
import { commandRun } from "../lab/CommandRun.ts"
import { database, sql as ownSql } from "../lab/Database.ts"
import { until } from "../lab/Eventually.ts"
import { type Answer, ask, becomes, newPayer, realClock, TestServer } from "../lab/Fixture.ts"
import { flipTile, signer } from "../lab/log/LogFixture.ts"
import { golden } from "../lab/log/Vectors.ts"
import { ownCosigner } from "../lab/log/Cosigner.ts"
import { freePort } from "../lab/Ports.ts"
import { main, run } from "../lab/Process.ts"
import * as ServerProcess from "../lab/server/ServerProcess.ts"
import { terminal } from "../lab/Terminal.ts"
import { direct } from "../lab/server/ServerProcess.ts"

const { vkey } = signer

/** The answer for a stone's proof once a checkpoint covers it. */
const covered = (url: string, id: string) =>
  ask(`${url}/api/witness/${id}/proof`).pipe(until("it is never covered", ({ status }) => status !== 409))

const signed = (asking: Effect.Effect<Answer>) =>
  asking.pipe(until("the cosigners never sign", ({ text }) => text.includes("— a ") && text.includes("— b ")))

/** A log server as a process, its operator's commands and a policy of two cosigners that is not served yet. */
const started = Effect.gen(function* () {
  const at = yield* Effect.provideService(terminal, TestServer, { url: "" })
  const file = (name: string) => join(at.folder, name)
  const write = (name: string, text: string) => writeFileSync(file(name), text)
  const cosigners = [yield* ownCosigner("a"), yield* ownCosigner("b")]
  const policy = [
    `log ${vkey}`,
    ...cosigners.map((one) => `witness ${one.name} ${one.vkey} ${one.url}`),
    "group both all a b",
    "quorum both",
    "",
  ].join("\n")
  write("served", `log ${vkey}\nquorum none\n`)
  write("policy", policy)
  const log = { LOG_KEY: golden.signerKey, LOG_ORIGIN: golden.name }
  const files = { LOG_CHECKPOINT_FILE: file("checkpoint"), LOG_COSIGNERS: file("served") }
  const env = { ...(yield* direct), ...log, ...files }
  const server = yield* ServerProcess.make(env)
  const { url } = server
  yield* server.start
  const payer = yield* newPayer()
  const buy = Effect.map(
    Effect.suspend(() => buyAt(url, { payer })),
    ({ record }): { readonly id: string; readonly sequence: number } => record,
  )
  /** Runs a command, which has to end with this code, and answers its output. */
  const command = Effect.fnUntraced(function* (code: number, line: string) {
    const ended = yield* commandRun(line.split(" "), { ...env, HOME: at.folder, SPIRIT_ALTAR_URL: url })
    assert.strictEqual(ended.code, code, `${line}: ${ended.stdout}${ended.stderr}`)
    return ended.stdout + ended.stderr
  })
  const status = (api: string, isSo: (json: Answer["json"]) => boolean) =>
    ask(`${url}/api/${api}`).pipe(until(`${api} never came to that`, ({ json }) => isSo(json)))
  return { at, buy, command, env, file, policy, server, status, url, write }
})

class Log extends Context.Service<Log, Effect.Success<typeof started>>()("test/Log") {}

const world = Layer.effect(Log, started).pipe(
  Layer.provideMerge(Layer.merge(ownSql.pipe(Layer.provideMerge(database)), chain)),
  Layer.orDie,
)

layer(world, realClock)("a log over paid stones", (it) => {
  it.effect("serves the proof of a stone as a file", function* () {
    const { buy, url } = yield* Log
    const first = yield* buy
    const proof = yield* covered(url, first.id)
    assert.strictEqual(proof.headers.get("content-type"), "text/plain; charset=utf-8")
    assert.include(proof.headers.get("content-disposition"), `stone-${first.sequence}.tlog-proof`)
    assert.strictEqual(proof.headers.get("cache-control"), "public, max-age=5, must-revalidate", "no quorum signed")
  })

  it.effect("refuses, in a check and at a start, a key that did not sign it", function* () {
    const { command, env } = yield* Log
    yield* command(0, "serve --check")
    const PORT = String(yield* freePort)
    const LOG_KEY = Redacted.value(Result.getOrThrow(generate(golden.name)))
    for (const args of [["serve", "--check"], ["serve"]]) {
      const { code, stderr } = yield* Effect.promise(
        () => run([main, ...args], { env: { PATH: process.env["PATH"] ?? "", ...env, PORT, LOG_KEY } }).ended,
      )
      assert.strictEqual(code, 1)
      assert.match(stderr, /^LOG_KEY is wrong: another key/mu)
      assert.notInclude(stderr, LOG_KEY)
    }
  })

  it.effect("waits without its checkpoint file and sells, until an operator confirms its head", function* () {
    const { buy, command, file, server, status, url } = yield* Log
    yield* server.kill
    rmSync(file("checkpoint"))
    yield* server.start
    const waitsFor = "LOG_CHECKPOINT_FILE, which holds no checkpoint, to confirm the checkpoint of size 1"
    const { root } = (yield* status("witness/log", ({ state }) => state === "waiting")).json
    const { id } = yield* buy
    const sql = yield* SqlClient.SqlClient
    yield* sql`UPDATE log_head SET rests_until = now() + interval '5 seconds'`
    const uncovered = yield* ask(`${url}/api/witness/${id}/proof`)
    assert.deepStrictEqual(
      [uncovered.status, uncovered.json["code"], uncovered.headers.get("retry-after")],
      [409, "proof_not_ready", "1"],
    )
    for (const path of ["/api/health", "/readyz"]) {
      const { json } = yield* becomes(`${url}${path}`, 200).pipe(
        until("its log stays unknown", ({ json }) => Object(json["log"]).state !== "unknown"),
      )
      const { since } = Object(json["log"])
      assert.deepStrictEqual(json["log"], { state: "waiting", waitsFor, since }, path)
      assert.isAtMost(Math.abs(Date.now() - Date.parse(since)), 60_000)
      const shown = yield* command(0, "log status")
      assert.include(shown, `state       waiting since ${since} (`)
      assert.include(shown, `waits for   ${waitsFor}`)
    }
    assert.include(yield* command(1, "log confirm"), `covers 1 stones and has the root ${String(root)}`)
    yield* command(1, `log confirm --root ${String(root).startsWith("A") ? "B" : "A"}${String(root).slice(1)}`)
    assert.isFalse(existsSync(file("checkpoint")))
    yield* command(0, `log confirm --root ${String(root)}`)
    yield* status("witness/log", ({ size, state }) => size === 2 && state === "running")
    assert.isNull(Object((yield* ask(`${url}/readyz`)).json["log"]).since)
    assert.lengthOf(server.output().match(/"log waiting"/gu) ?? [], 1)
    assert.match(yield* command(0, "log status"), /^state {7}running$/mu)
  })

  it.effect("proves the stone of a command, under a policy once its cosigners signed", function* () {
    const { at, command, file, policy, server, url, write } = yield* Log
    write("served", policy)
    yield* server.kill
    yield* server.start

    // A stone of the command is proved under the policy.
    const set = yield* at.run(["witness", "--text", "heron", "--json"], { SPIRIT_ALTAR_URL: url })
    assert.strictEqual(set.code, 0, set.stderr)
    write("bought.json", set.stdout)
    const { record } = JSON.parse(set.stdout)
    write("stone.tlog-proof", (yield* covered(url, record.id)).text)
    const under = (proof: string, trust: string) =>
      command(0, `verify-proof ${file(proof)} --stone ${file("bought.json")} ${trust}`)
    const held = yield* under("stone.tlog-proof", `--vkey ${vkey}`)
    assert.include(held, `HOLDS        checkpoint: The log ${golden.name} signed its tree`)
    const members = "previousHash, sequence, commitment, witnessedAt, transaction, chainHash"
    assert.include(held, `HOLDS        entry: The tree holds stone ${record.sequence}: ${members}.`)
    assert.match(held, /^NOT CHECKED {2}meaning: The log does not certify what .*\bkind, spirit\b.*\bpayer\b/mu)
    const proof = yield* signed(ask(`${url}/api/witness/${record.id}/proof`))
    assert.match(proof.headers.get("cache-control") ?? "", /\bimmutable$/u)
    write("signed.tlog-proof", proof.text)
    const cosigned = yield* under("signed.tlog-proof", `--policy ${file("policy")}`)
    assert.match(cosigned, /^HOLDS {8}cosignatures: Cosigned by a .*, b .*: enough/mu)
  })

  it.effect("names its key in files and manifests", function* () {
    const { env, url } = yield* Log
    const { json } = yield* signed(ask(`${url}/api/witness/log`))
    assert.deepInclude(json, { ok: true, origin: golden.name, vkey, url: `${url}/log/`, state: "running" })
    const checkpoint = yield* ask(`${url}/log/checkpoint`)
    assert.strictEqual(json["checkpoint"], checkpoint.text)
    // It stores its own signature; the other signers are public.
    assert.isTrue(checkpoint.text.startsWith(readFileSync(env.LOG_CHECKPOINT_FILE, "utf8")))
    for (const path of ["/llms.txt", "/for-agents", "/.well-known/agent.json"])
      assert.include((yield* ask(`${url}${path}`)).text, vkey, path)
    const missing = yield* ask(`${url}/api/witness/3f0c2c1e-5b0a-4c1f-9d51-8a54f3a3f6a1/proof`)
    assert.strictEqual(missing.json["code"], "witness_not_found")
  })

  it.effect("is walked by its readers as a whole, and continued", function* () {
    const { command, file } = yield* Log
    const walk = `verify --log --seen ${file("seen.json")} --policy ${file("policy")}`
    const walked = yield* command(0, walk)
    assert.include(walked, `3 entries of ${golden.name}: its signed root is that of`)
    assert.include(walked, "Cosigned by a, b: the quorum of the policy.")
    assert.include(yield* command(0, walk), "It continues the 3 entries of the last check")
  })

  it.effect("stops at a changed tile while stones sell, and goes on", function* () {
    const { at, buy, command, env, status, url } = yield* Log
    assert.match(yield* command(0, "log status"), /^state {7}running$/mu)
    yield* flipTile(0, 0)
    const late = yield* buy
    yield* status("witness/log", ({ state }) => state === "stopped")
    const halted = yield* covered(url, late.id)
    assert.deepStrictEqual([halted.json["code"], halted.headers.get("retry-after")], ["log_stopped", "60"])
    yield* becomes(`${url}/api/health`, 200)
    // As a process, whose exit code its operator's scripts read.
    const told = yield* at.run(["log", "status"], env)
    assert.strictEqual(told.code, 1)
    assert.match(
      told.stdout + told.stderr,
      /^The log is stopped: the tiles (?:above|of) [^]*Another program wrote to log_tiles/mu,
    )
    yield* flipTile(0, 0)
    yield* command(0, "log resume")
    yield* covered(url, late.id).pipe(until("it never went on", ({ status }) => status === 200))
  })
})
