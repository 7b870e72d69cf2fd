/** However many ask at once, a server holds 16 connections to its database; a caller without a free one waits. */
import { assert, layer } from "../lab/It.ts"
import { Deferred, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { LocalDatabase } from "../../src/sandbox/LocalDatabase.ts"
import * as Sql from "../../src/platform/Sql.ts"
import { database } from "../lab/Database.ts"
import { realClock } from "../lab/TestServices.ts"

const most = 16
const pool = Layer.unwrap(Effect.map(LocalDatabase, ({ url }) => Sql.layer(url)))

layer(pool.pipe(Layer.provide(database), Layer.orDie), realClock)("a server's database pool", (it) => {
  it.effect("opens 16 connections for 64 transactions at once, and answers all", function* () {
    const sql = yield* SqlClient.SqlClient
    const full = yield* Deferred.make<void>()
    let [open, highest] = [0, 0]
    const transaction = Effect.gen(function* () {
      open += 1
      highest = Math.max(highest, open)
      if (open === most) yield* Deferred.succeed(full, undefined)
      yield* Deferred.await(full)
      // A larger pool would admit more in the same time.
      for (let times = 0; times < 5; times += 1) yield* sql`SELECT 1`
      const [row] = yield* sql<{ pid: number }>`SELECT pg_backend_pid() AS pid`
      open -= 1
      return row?.pid
    })
    const pids = yield* Effect.forEach(Array.from({ length: 4 * most }), () => sql.withTransaction(transaction), {
      concurrency: "unbounded",
    })
    assert.strictEqual(highest, most)
    assert.strictEqual(new Set(pids).size, most)
  })
})
