/** The log over all acts in a real database: each settled act has one position and one leaf, on every server. */
import { Deferred, Effect, Fiber, Layer, Option, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { verifyEntry } from "../../src/buyer/index.ts"
import { utf8 } from "../../schema/log/Bytes.ts"
import { LogStore } from "../../src/log/LogStore.ts"
import { PublishedLog } from "../../src/log/PublishedLog.ts"
import { all, run } from "../../src/platform/Migrator.ts"
import { LocalDatabase } from "../../src/sandbox/LocalDatabase.ts"
import { database, sql } from "../lab/Database.ts"
import { until } from "../lab/Eventually.ts"
import * as Ledger from "../lab/Ledger.ts"
import { entryOf, expected, server, stored } from "../lab/log/ActLog.ts"
import { integrateAll, publish, signer } from "../lab/log/LogFixture.ts"
import { assert, suite } from "../lab/Suites.ts"

const ledger = Effect.flatMap(LocalDatabase, ({ url }) =>
  Effect.acquireRelease(
    Effect.sync(() => Ledger.open(Redacted.value(url))),
    (open) => Effect.promise(() => open.close()),
  ),
)

/** Settles so many acts, as paid requests do. */
const settle = Effect.fnUntraced(function* (count: number) {
  const open = yield* ledger
  yield* Effect.promise(async () => open.settle(await open.claim(count), 16))
}, Effect.scoped)

/** Holds that each act has its own position, from 1 without a gap, and that the tree is that of their entries. */
const assertWhole = Effect.gen(function* () {
  const { positions, root } = yield* expected
  assert.deepStrictEqual(
    positions,
    positions.map((_, at) => at + 1),
  )
  assert.deepStrictEqual(yield* stored, { size: positions.length, root, stopped: null })
  return positions.length
})

suite("the log over all acts", sql.pipe(Layer.provideMerge(database)), (it) => {
  it("includes acts settled before its migration, oldest first", function* ({ sql: client }) {
    yield* settle(40)
    yield* client`DROP TABLE log_act_tiles, log_act_checkpoints`
    yield* client`ALTER TABLE acts DROP COLUMN log_sequence`
    yield* client`ALTER TABLE payment_totals DROP COLUMN placed`
    yield* client`DELETE FROM log_head WHERE id = 2`
    yield* client`ALTER TABLE log_head DROP CONSTRAINT log_head_id_check`
    yield* client`ALTER TABLE log_head ADD CONSTRAINT log_head_id_check CHECK (id = 1)`
    yield* client`DELETE FROM effect_sql_migrations WHERE migration_id IN (33, 34, 35)`
    yield* run(all)
    assert.strictEqual(yield* Effect.provide(integrateAll, server(16)), 40)
    assert.strictEqual(yield* assertWhole, 40)
    const { ids } = yield* expected
    const byTime = yield* client<{ id: string }>`SELECT id::text FROM acts ORDER BY settled_at, id`
    assert.deepStrictEqual(
      ids,
      byTime.map(({ id }) => id),
    )
  })

  it("gives each act one position with concurrent servers, settlements and acts of the version before", function* ({
    sql: client,
  }) {
    yield* settle(60)
    // That version gives no position and leaves the counter alone.
    yield* client`UPDATE acts SET log_sequence = NULL WHERE log_sequence > 40`
    yield* client`UPDATE payment_totals SET placed = 40`
    const atWork = Effect.andThen(integrateAll, stored).pipe(
      Effect.repeat({ until: ({ size }) => size === 220 }),
      Effect.provide(server(7)),
    )
    yield* Effect.all([settle(120), atWork, atWork, atWork], { concurrency: "unbounded", discard: true })
    yield* Effect.provide(integrateAll, server(7))
    assert.strictEqual(yield* assertWhole, 220)
  })

  it("proves each act to the shipped verifier, and none that no checkpoint covers", function* ({ sql: client }) {
    yield* Effect.gen(function* () {
      yield* publish
      const log = yield* PublishedLog
      const rows = yield* client<{ id: string; answer: string; header: string }>`
        SELECT id::text, answer, payment_response AS header FROM payment_attempts WHERE state = 'settled' LIMIT 20`
      for (const { answer, header, id } of rows) {
        const { text } = yield* log.proof(id)
        const held = (entry: string) =>
          Effect.promise(() => verifyEntry(text, { entry: utf8(entry) }, { vkey: signer.vkey }))
        const entry = entryOf(id, answer, header)
        assert.isTrue((yield* held(entry)).ok)
        for (const line of entry.trimEnd().split("\n")) {
          const forged = entry.replace(
            line,
            line.replace(/.$/u, (last) => (last === "0" ? "1" : "0")),
          )
          assert.isFalse((yield* held(forged)).ok, line)
        }
      }
      assert.strictEqual((yield* Effect.flip(log.proof("3f0c2c1e-5b0a-4c1f-9d51-8a54f3a3f6a1")))._tag, "EntryUnknown")
      yield* settle(1)
      const [late] = yield* client<{ id: string }>`SELECT id::text FROM acts ORDER BY log_sequence DESC LIMIT 1`
      assert.strictEqual((yield* Effect.flip(log.proof(late?.id ?? "")))._tag, "NotPublished")
      yield* integrateAll
      assert.strictEqual((yield* Effect.flip(log.proof(late?.id ?? "")))._tag, "NotPublished")
    }).pipe(Effect.provide(server(128)))
  })

  it("stops alone, without changing the stones' log", function* ({ sql: client }) {
    yield* client`UPDATE payment_attempts SET answer = replace(answer, '"amountAtomic":"', '"amountAtomic":"1')
      WHERE id = (SELECT id FROM acts WHERE log_sequence = 221)`
    yield* settle(1)
    const failed = yield* Effect.provide(Effect.flip(integrateAll), server(128))
    assert.deepInclude(failed, { _tag: "LogStopped", reason: "act 221 is not the one that the log holds" })
    const heads = yield* client<{ stopped: string | null; size: number }>`
      SELECT stopped_reason AS stopped, size::int AS size FROM log_head ORDER BY id`
    assert.deepStrictEqual(heads, [
      { stopped: null, size: 0 },
      { stopped: failed._tag === "LogStopped" ? failed.reason : "", size: 221 },
    ])
    const stop = yield* Effect.provide(
      Effect.flatMap(LogStore, (store) => store.head),
      server(1),
    )
    assert.isTrue(Option.isSome(stop.stopped))
  })

  it("lets acts be settled while a migration waits for a dump", function* ({ sql: client }) {
    const [isRead, isOver] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
    const reading = Effect.andThen(client`SELECT count(*) FROM acts`, Deferred.succeed(isRead, undefined))
    const dump = yield* Effect.forkChild(client.withTransaction(Effect.andThen(reading, Deferred.await(isOver))))
    yield* Deferred.await(isRead)
    const migration = Effect.flatMap(SqlClient.SqlClient, (sql) => sql`ALTER TABLE acts ADD COLUMN later int`)
    const migrating = yield* Effect.forkChild(run({ "9001_later": Effect.asVoid(migration) }))
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
