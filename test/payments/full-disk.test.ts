/** Monitors learn of a full disk of the database before a purchase fails on it. */
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import { relayed } from "../lab/server/Live.ts"
import { paymentFixture } from "../lab/buyer/PaymentFixture.ts"
import { becomes } from "../lab/Fixture.ts"

describe.concurrent("a database whose disk is full", () => {
  relayed("fails /api/health, whose check writes a temporary file", function* () {
    const { database, sql, url } = yield* paymentFixture
    yield* becomes(`${url}/api/health`, 200)
    database.arm(/FROM generate_series/u, { sqlstate: "53100" })
    // The proxy fails no statement that a connection prepares by name, which each does at its first use.
    const { json } = yield* becomes(`${url}/api/health`, 503)
    assert.deepStrictEqual([json["ok"], json["database"]], [false, "failing"])
    yield* becomes(`${url}/readyz`, 200)
    yield* database.calm
    yield* becomes(`${url}/api/health`, 200)
    const plan = yield* sql.withTransaction(
      Effect.andThen(
        sql`SET LOCAL work_mem = '64kB'`,
        sql`EXPLAIN (ANALYZE, BUFFERS) SELECT count(*) FROM generate_series(1, 20000)`,
      ),
    )
    assert.match(JSON.stringify(plan), /temp .*written=/u)
  })
})
