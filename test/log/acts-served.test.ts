/** The log over all acts through the whole server: every kind of act is proved, and no hidden word is in it. */
import { randomUUID } from "node:crypto"
import { Effect, Layer, Option, Redacted, Result } from "effect"
import { utf8 } from "../../schema/log/Bytes.ts"
import { Moderation } from "../../src/altar/Moderation.ts"
import { openCheckpoint, verifyEntry } from "../../src/buyer/index.ts"
import { ofActs } from "../../src/log/Log.ts"
import { fromText, generate, plainFrom } from "../../src/log/Signer.ts"
import { LocalDatabase } from "../../src/sandbox/LocalDatabase.ts"
import { acts } from "../lab/ActTable.ts"
import { today } from "../lab/Clock.ts"
import { until } from "../lab/Eventually.ts"
import { ask, bought as buy, layer as world, newCommitment, TestServer } from "../lab/Fixture.ts"
import { entryOf } from "../lab/log/ActLog.ts"
import { assert, suite } from "../lab/Suites.ts"
import { terminal } from "../lab/Terminal.ts"

const origin = "altar.example/log"
const signer = Result.getOrThrow(fromText(Result.getOrThrow(generate(origin))))
const log = { origin, signer, checkpointFile: Option.none<string>(), publishSeconds: 1 }
const receipts = { current: Result.getOrThrow(plainFrom(Result.getOrThrow(generate("receipts-1")))), retired: [] }
const { vkey } = ofActs(log).signer

/** Buys one act and returns its id with the entry that its answer makes. */
const bought = Effect.fnUntraced(function* (path: string, body: object = {}) {
  const { url } = yield* TestServer
  const { answer, record } = yield* buy(path, body)
  const id = String(record.id)
  const entry = utf8(entryOf(id, answer.text, answer.headers.get("payment-response") ?? ""))
  return { id, entry, proof: `${url}/api/acts/${id}/proof` }
})

const covered = (proof: string) => ask(proof).pipe(until("no checkpoint", ({ status }) => status !== 409))

const verified = (text: string, entry: Uint8Array<ArrayBuffer>) =>
  Effect.promise(() => verifyEntry(text, { entry }, { vkey }))

const fixture = Layer.provideMerge(Moderation.layer, world({}, undefined, { receipts, log }))

suite("a server with a log over all acts", fixture, (it) => {
  it("proves every kind of act", function* ({ url }) {
    yield* today
    for (const act of acts()) {
      const { body, path } = act.request()
      const { entry, id, proof } = yield* bought(path, body)
      const answer = yield* covered(proof)
      assert.strictEqual(answer.status, 200, act.name)
      assert.match(answer.headers.get("content-disposition") ?? "", /filename="act-\d+\.tlog-proof"/u)
      const verdict = yield* verified(answer.text, entry)
      assert.isTrue(verdict.ok, act.name)
      assert.include(answer.text, `\n${origin}/acts\n`)
      // A stone has a proof in each of the two logs, another act has none in the log of the stones.
      const inStones = yield* ask(`${url}/api/witness/${id}/proof`)
      assert.strictEqual(inStones.status === 404, act.name !== "setWitnessStone", act.name)
    }
  })

  it("shows its state, and its files below /log/acts/", function* ({ url }) {
    const status = yield* ask(`${url}/api/acts/log`)
    assert.deepInclude(status.json, { ok: true, origin: `${origin}/acts`, vkey, url: `${url}/log/acts/` })
    assert.strictEqual(status.json["state"], "running")
    const opened = yield* Effect.promise(() => openCheckpoint(String(status.json["checkpoint"]), { vkey }))
    assert.isTrue(opened.ok)
    assert.strictEqual(opened.ok && opened.checkpoint.size, status.json["size"])
    for (const path of ["checkpoint", `tile/0/000.p/${status.json["size"]}`, "tile/entries/000.p/1"]) {
      assert.strictEqual((yield* ask(`${url}/log/acts/${path}`)).status, 200, path)
    }
    const other = yield* ask(`${url}/api/witness/log`)
    assert.notStrictEqual(other.json["vkey"], vkey)
    assert.strictEqual((yield* ask(`${url}/log/acts/tile/9/000`)).status, 404)
    for (const id of [randomUUID(), "nonsense"]) {
      const missing = yield* ask(`${url}/api/acts/${id}/proof`)
      assert.deepStrictEqual([missing.status, missing.json["code"]], [404, "act_not_found"])
    }
  })

  it("is read by the commands like any other log", function* ({ url }) {
    const at = yield* terminal
    const env = { DATABASE_URL: Redacted.value((yield* LocalDatabase).url) }
    const { size } = (yield* ask(`${url}/api/acts/log`)).json
    const status = yield* at.run(["log", "status", "--acts"], env)
    assert.strictEqual(status.code, 0, status.stderr)
    assert.include(status.stdout, `tree        ${String(size)} acts; 0 behind`)
    const walk = yield* at.run(["verify", "--log", "--url", `${url}/log/acts`, "--vkey", vkey, "--json"])
    assert.strictEqual(walk.code, 0, walk.stderr)
    assert.deepInclude(JSON.parse(walk.stdout).log, { origin: `${origin}/acts`, size })
    const { actLog, log: stones } = (yield* ask(`${url}/api/health`)).json
    const running = { state: "running", waitsFor: null }
    assert.deepStrictEqual([actLog, stones], [running, running])
  })

  it("proves an act whose text was hidden, without the text", function* ({ sql, url }) {
    const kept = yield* bought("/api/acquire/glass-tortoise", { agentName: "Wren", reason: "It is slow." })
    const before = yield* covered(kept.proof)
    yield* sql.withTransaction((yield* Moderation).hide(kept.id, "reason"))
    const after = yield* ask(kept.proof)
    assert.isTrue((yield* verified(before.text, kept.entry)).ok)
    assert.isTrue((yield* verified(after.text, kept.entry)).ok)
    const { size } = (yield* ask(`${url}/api/acts/log`)).json
    const bundle = yield* ask(`${url}/log/acts/tile/entries/000.p/${String(size)}`)
    assert.include(bundle.text, `act ${kept.id}\n`)
    assert.notMatch(bundle.text, /slow|Wren/u)
  })
})

suite("a server without a log", world(), (it) => {
  it("has no log of stones and none over its acts, and is healthy", function* ({ url }) {
    const { id, proof } = yield* bought("/api/witness", { commitment: newCommitment() })
    const ofStones = ["/log/checkpoint", "/log/tile/0/000", "/api/witness/log", `/api/witness/${id}/proof`]
    for (const path of [...ofStones, "/api/acts/log", proof.slice(url.length)]) {
      const { json, status } = yield* ask(`${url}${path}`)
      assert.deepStrictEqual([status, json["code"]], [404, "not_found"], path)
    }
    for (const path of ["/log/acts/checkpoint", "/v2/log"])
      assert.strictEqual((yield* ask(`${url}${path}`)).status, 404, path)
    const health = yield* ask(`${url}/api/health`)
    assert.deepStrictEqual([health.status, "log" in health.json], [200, false])
  })
})
