/** The log over all acts: one position and one leaf for each settled act, proved by its first answer, and no hidden word in it. */
import { createHash, randomUUID } from "node:crypto"
import { Deferred, Effect, Fiber, Layer, Option, Redacted, Result, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { hex, utf8 } from "../../schema/log/Bytes.ts"
import { canonicalJson } from "../../schema/payments/CanonicalJson.ts"
import { Moderation } from "../../src/altar/Moderation.ts"
import { verifyEntry } from "../../src/buyer/index.ts"
import * as ActEntries from "../../src/log/ActEntries.ts"
import { Integrator } from "../../src/log/Integrator.ts"
import { ofActs } from "../../src/log/Log.ts"
import { acts as kind } from "../../src/log/LogKind.ts"
import { LogStore } from "../../src/log/LogStore.ts"
import { generate, plainFrom } from "../../src/log/Signer.ts"
import { leafOf } from "../../src/log/Tree.ts"
import { ActOrder } from "../../src/payments/store/ActOrder.ts"
import { run } from "../../src/platform/Migrator.ts"
import * as Sql from "../../src/platform/Sql.ts"
import { LocalDatabase } from "../../src/sandbox/LocalDatabase.ts"
import { acts } from "../lab/ActTable.ts"
import { today, withoutPausesOf } from "../lab/Clock.ts"
import { database, sql } from "../lab/Database.ts"
import { until } from "../lab/Eventually.ts"
import { ask, bought as buy, layer as world, newCommitment, TestServer } from "../lab/Fixture.ts"
import * as Ledger from "../lab/Ledger.ts"
import { integrateAll, origin, signing } from "../lab/log/LogFixture.ts"
import { MemoryLog } from "../lab/log/MemoryLog.ts"
import { patience } from "../lab/Patience.ts"
import { layer as rooms } from "../lab/server/Rooms.ts"
import { assert, assertEach, suite } from "../lab/Suites.ts"

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex")

/** The entry of an act by docs/proofs.md, from its first answer. */
const entryOf = (id: string, answer: string, header: string) => {
  const { receipt } = JSON.parse(answer)
  const { extensions } = JSON.parse(Buffer.from(header, "base64").toString())
  const jws: string | undefined = extensions?.["offer-receipt"]?.info.receipt.signature
  const receiptLine = jws === undefined ? `json ${sha256(canonicalJson(receipt))}` : `jws ${sha256(jws)}`
  return utf8(`spirit-altar/act/v1\nact ${id}\nreceipt ${receiptLine}\ntransaction ${receipt.transaction ?? "-"}\n`)
}

/** A server that integrates acts on a connection of its own, without loops. */
const server = (batch: number) =>
  Layer.fresh(
    Integrator.layerNoLoop({ batch }).pipe(
      Layer.provide(ActEntries.layer.pipe(Layer.provide(ActOrder.layer))),
      Layer.provideMerge(LogStore.layerOf(kind)),
      Layer.provide(Layer.unwrap(Effect.map(LocalDatabase, ({ url }) => Sql.layer(url, 2)))),
      Layer.orDie,
    ),
  )

/** Settles so many acts, as paid requests do. */
const settle = Effect.fnUntraced(function* (count: number) {
  const { url } = yield* LocalDatabase
  const ledger = yield* Effect.acquireRelease(
    Effect.sync(() => Ledger.open(Redacted.value(url))),
    (open) => Effect.promise(() => open.close()),
  )
  yield* Effect.promise(async () => ledger.settle(await ledger.claim(count), 16))
}, Effect.scoped)

/** The heads of the trees of stones and acts. */
const heads = Effect.flatMap(
  SqlClient.SqlClient,
  (client) =>
    client<{ size: number; root: Uint8Array; stopped: string | null }>`
      SELECT size::int AS size, root, stopped_reason AS stopped FROM log_head ORDER BY id`,
)

suite("the log over all acts", sql.pipe(Layer.provideMerge(database)), (it) => {
  it("gives each act one position with concurrent servers, settlements and acts of the version before", function* ({
    sql: client,
  }) {
    yield* settle(60)
    // That version gives no position and leaves the counter alone.
    yield* client`UPDATE acts SET log_sequence = NULL WHERE log_sequence > 40`
    yield* client`UPDATE payment_totals SET placed = 40`
    const atWork = Effect.andThen(integrateAll, heads).pipe(
      Effect.repeat({ until: ([, { size = 0 } = {}]) => size === 180 }),
      Effect.provide(server(7)),
    )
    yield* Effect.all([settle(120), atWork, atWork, atWork], { concurrency: "unbounded", discard: true })
    const rows = yield* client<{ id: string; position: number; answer: string; paymentResponse: string }>`
      SELECT a.id::text, a.log_sequence::int AS position, p.answer, p.payment_response
      FROM acts a JOIN payment_attempts p ON p.id = a.id ORDER BY a.log_sequence`
    assertEach(
      rows,
      ({ position }) => position,
      Array.from({ length: 180 }, (_, at) => at + 1),
    )
    const log = new MemoryLog()
    for (const { answer, id, paymentResponse } of rows) log.append([leafOf(entryOf(id, answer, paymentResponse))])
    assert.strictEqual(hex((yield* heads)[1]?.root ?? new Uint8Array()), hex(log.root))
  })

  it("gives no position while another server does", function* ({ sql: client }) {
    yield* settle(1)
    yield* client`UPDATE acts SET log_sequence = NULL WHERE log_sequence = 181`
    yield* client`UPDATE payment_totals SET placed = 180`
    const waiting = client`SELECT id FROM acts WHERE log_sequence IS NULL`
    const added = yield* client.withTransaction(
      client`SELECT id FROM log_head FOR UPDATE`.pipe(
        Effect.andThen(Effect.provide(integrateAll, server(128))),
        Effect.timeout(patience(30)),
      ),
    )
    assert.deepStrictEqual([added, (yield* waiting).length], [0, 1])
    assert.strictEqual(yield* Effect.provide(integrateAll, server(128)), 1)
    assert.isEmpty(yield* waiting)
  })

  it("stops alone, without changing the stones' log", function* ({ sql: client }) {
    yield* client`UPDATE payment_attempts SET answer = replace(answer, '"amountAtomic":"', '"amountAtomic":"1')
      WHERE id = (SELECT id FROM acts WHERE log_sequence = 181)`
    yield* settle(1)
    const failed = yield* Effect.provide(Effect.flip(integrateAll), server(128))
    const reason = "act 181 is not the one that the log holds"
    assert.deepInclude(failed, { _tag: "LogStopped", reason })
    assertEach(yield* heads, ({ size, stopped }) => [size, stopped], [
      [0, null],
      [181, reason],
    ])
  })

  it("lets acts be settled while a migration waits for a dump", function* ({ sql: client }) {
    const [isRead, isOver] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
    const reading = Effect.andThen(client`SELECT count(*) FROM acts`, Deferred.succeed(isRead, undefined))
    const dump = yield* Effect.forkChild(client.withTransaction(Effect.andThen(reading, Deferred.await(isOver))))
    yield* Deferred.await(isRead)
    const migration = Effect.flatMap(SqlClient.SqlClient, (own) => own`ALTER TABLE acts ADD COLUMN later int`)
    // It gives way, and would try again after ten seconds.
    const migrating = yield* Effect.forkChild(
      withoutPausesOf("10 seconds")(run({ "9001_later": Effect.asVoid(migration) })),
    )
    yield* client`SELECT 1 FROM pg_locks WHERE relation = 'acts'::regclass AND NOT granted`.pipe(
      until("the migration never waited", (waiting) => waiting.length > 0),
    )
    yield* settle(1)
    yield* Deferred.succeed(isOver, undefined)
    yield* Fiber.join(dump)
    yield* Fiber.join(migrating)
    assert.strictEqual((yield* client`SELECT later FROM acts LIMIT 1`).length, 1)
  })
})

const log = { ...signing, checkpointFile: Option.none<string>(), publishSeconds: 1 }
const receipts = { current: Result.getOrThrow(plainFrom(Result.getOrThrow(generate("receipts-1")))), retired: [] }
const { vkey } = ofActs(log).signer

/** Buys one act and returns its id with the entry that its answer makes. */
const bought = Effect.fnUntraced(function* (path: string, body: object = {}) {
  const { url } = yield* TestServer
  const { answer, record } = yield* buy(path, body)
  const id = String(record.id)
  const entry = entryOf(id, answer.text, answer.headers.get("payment-response") ?? "")
  return { id, entry, proof: `${url}/api/acts/${id}/proof` }
})

const covered = (proof: string) => ask(proof).pipe(until("no checkpoint", ({ status }) => status !== 409))

const isProved = (text: string, entry: Uint8Array<ArrayBuffer>) =>
  Effect.promise(() => verifyEntry(text, { entry }, { vkey }).then(({ ok }) => ok))

suite(
  "a server with a log over all acts",
  Layer.provideMerge(Moderation.layer, world({}, undefined, { receipts, log })),
  (it) => {
    it("proves every kind of act, and shows state and files of the log", function* ({ url }) {
      yield* today
      const sold = yield* Effect.forEach(acts(), ({ name, request }) => {
        const { body, path } = request()
        return Effect.map(bought(path, body), (act) => ({ name, ...act }))
      })
      for (const { entry, id, name, proof } of sold) {
        const answer = yield* covered(proof)
        assert.strictEqual(answer.status, 200, name)
        assert.match(answer.headers.get("content-disposition") ?? "", /filename="act-\d+\.tlog-proof"/u)
        assert.isTrue(yield* isProved(answer.text, entry), name)
        // A stone has a proof in each of the two logs, another act has none in the log of the stones.
        const inStones = yield* ask(`${url}/api/witness/${id}/proof`)
        assert.strictEqual(inStones.status === 404, name !== "setWitnessStone", name)
      }
      const { json } = yield* ask(`${url}/api/acts/log`)
      assert.deepInclude(json, { ok: true, origin: `${origin}/acts`, vkey, url: `${url}/log/acts/`, state: "running" })
      for (const path of ["checkpoint", `tile/0/000.p/${json["size"]}`, "tile/entries/000.p/1"])
        assert.strictEqual((yield* ask(`${url}/log/acts/${path}`)).status, 200, path)
      assert.strictEqual((yield* ask(`${url}/log/acts/tile/9/000`)).status, 404)
      for (const id of [randomUUID(), "nonsense"])
        assert.strictEqual((yield* ask(`${url}/api/acts/${id}/proof`)).json["code"], "act_not_found")
    })

    it("covers a sold act within two seconds", function* () {
      const { proof } = yield* bought("/api/witness", { commitment: newCommitment() })
      // Counted in steps of this process, in which the log is at work: while it has to stand still, both do.
      let steps = 0
      const step = Effect.sync(() => void (steps += 1))
      yield* Effect.forkScoped(Effect.repeat(step, Schedule.spaced("20 millis")))
      assert.strictEqual((yield* covered(proof)).status, 200)
      assert.isBelow(20 * steps, patience(2))
    })

    it("proves an act whose text was hidden, without the text", function* ({ sql: client, url }) {
      const kept = yield* bought("/api/acquire/glass-tortoise", { agentName: "Wren", reason: "It is slow." })
      const before = yield* covered(kept.proof)
      yield* client.withTransaction((yield* Moderation).hide(kept.id, "reason"))
      const after = yield* ask(kept.proof)
      for (const { text } of [before, after]) assert.isTrue(yield* isProved(text, kept.entry))
      const { size } = (yield* ask(`${url}/api/acts/log`)).json
      const bundle = yield* ask(`${url}/log/acts/tile/entries/000.p/${String(size)}`)
      assert.include(bundle.text, `act ${kept.id}\n`)
      assert.notMatch(bundle.text, /slow|Wren/u)
    })
  },
)

suite("a server without a log", rooms(), (it) => {
  it("has no log of stones and none over its acts, and is healthy", function* ({ url }) {
    const id = randomUUID()
    const api = ["/api/witness/log", `/api/witness/${id}/proof`, "/api/acts/log", `/api/acts/${id}/proof`]
    for (const path of [...api, "/log/checkpoint", "/log/tile/0/000", "/log/acts/checkpoint", "/v2/log"])
      assert.strictEqual((yield* ask(`${url}${path}`)).status, 404, path)
    for (const path of api) assert.strictEqual((yield* ask(`${url}${path}`)).json["code"], "not_found", path)
    const health = yield* ask(`${url}/api/health`)
    assert.deepStrictEqual([health.status, "log" in health.json], [200, false])
  })
})
