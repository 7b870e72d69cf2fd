/** Reads that are kept: never older than the question on any server, and never of a chain that was changed. */
import { buy } from "../lab/buyer/Purchase.ts"
import { assert, layer } from "../lab/It.ts"
import { Effect, Fiber, Ref } from "effect"
import { SqlClient } from "effect/sql"
import * as CachedReads from "../../src/platform/CachedReads.ts"
import { assertAnswer, assertEach } from "../lab/Assertions.ts"
import { until } from "../lab/Eventually.ts"
import { ask, becomes, newCommitment, realClock, TestServer, world, anotherServer } from "../lab/Fixture.ts"

const json = (url: string) => Effect.map(ask(url), ({ text }) => JSON.parse(text))

layer(world(), realClock)("a cached read", (it) => {
  it.effect("shows every row written before the request, on either of two busy servers", function* () {
    const { url } = yield* TestServer
    const sql = yield* SqlClient.SqlClient
    const servers = [url, yield* anotherServer()]
    const count = (server: string) => Effect.map(json(`${server}/api/field`), ({ acts }): number => acts)
    const first = yield* count(url)
    const done = yield* Ref.make(false)
    // Readers that always wait, so that every further reader finds a query in flight.
    const busy = yield* Effect.forEach(
      servers.flatMap((server) => [server, server, server]),
      (server) => Effect.forkChild(Effect.repeat(count(server), { until: () => Ref.get(done) })),
    )
    for (let written = first + 1; written <= first + 40; written += 1) {
      yield* sql`UPDATE payment_totals SET settled = ${written}::bigint WHERE id = 1`
      const seen = yield* Effect.forEach(servers, count, { concurrency: "unbounded" })
      assert.deepStrictEqual(seen, [written, written])
    }
    yield* Ref.set(done, true)
    yield* Effect.forEach(busy, Fiber.join)
    yield* sql`UPDATE payment_totals SET settled = ${first}::bigint WHERE id = 1`
    assert.strictEqual(yield* count(url), first)
  })

  it.effect("of a chain is refused from the first read of a changed link until it is restored", function* () {
    const { url } = yield* TestServer
    const sql = yield* SqlClient.SqlClient
    yield* buy()
    const [stone] = yield* sql<{ commitment: string; id: string }>`
      SELECT commitment, id FROM witness_stones WHERE sequence = 1`
    const chains: ReadonlyArray<readonly [path: string, link: string]> = [
      ["/api/witness/chain?from=1&limit=100", "stone"],
      ["/api/witness?limit=50", "stone"],
      [`/api/witness/${stone?.id}`, "stone"],
      ["/api/publish-chain?limit=100", "entry"],
    ]
    const readAll = Effect.forEach(chains, ([path]) => ask(`${url}${path}`))
    const shown = Effect.map(readAll, (all) =>
      all.map(({ headers, status, text }) => [status, text, headers.get("etag")]),
    )
    const before = yield* shown
    assert.deepStrictEqual(yield* shown, before)
    yield* sql`UPDATE witness_stones SET commitment = ${newCommitment()} WHERE sequence = 1`
    yield* sql`UPDATE publications SET item_id = item_id || 'x' WHERE sequence = 1`
    // The second time the server knows the fault.
    for (const _ of [1, 2]) {
      for (const [index, broken] of (yield* readAll).entries()) {
        const [path, link] = chains[index] ?? []
        assertAnswer(broken, 500, "chain_broken", undefined, path)
        assert.strictEqual(broken.json["sequence"], 1)
        assert.include(broken.json["message"], `The chain is broken at ${link} 1: `, path)
      }
    }
    yield* becomes(`${url}/api/health`, 503).pipe(
      until("its chain stays unknown", ({ json }) => Object(json["chain"]).state === "failing"),
    )
    // Sales go on until the operator pauses them.
    yield* becomes(`${url}/readyz`, 200)
    yield* sql`UPDATE witness_stones SET commitment = ${stone?.commitment ?? ""} WHERE sequence = 1`
    yield* sql`UPDATE publications SET item_id = left(item_id, -1) WHERE sequence = 1`
    assert.deepStrictEqual(yield* shown, before)
  })

  it.effect("is the same object while its rows are the same, and another one after each change", function* () {
    const sql = yield* SqlClient.SqlClient
    yield* sql`CREATE TABLE pebbles (place int PRIMARY KEY, weight int, found timestamptz)`
    const read = yield* CachedReads.make({
      nameOf: (least: number) => String(least),
      statement: (least, now) =>
        sql`SELECT place AS number, weight, found <= ${now}::timestamptz AS is_found FROM pebbles WHERE place >= ${least}::int ORDER BY place`,
      make: (rows) => Effect.succeed(rows.map((row) => ({ row }))),
    })
    const seen = [yield* read(1)]
    assert.deepStrictEqual(seen[0], [])
    const changes = [
      sql`INSERT INTO pebbles VALUES (1, 10, now() - interval '1 hour'), (2, 20, now() + interval '1 hour')`,
      sql`UPDATE pebbles SET weight = NULL WHERE place = 2`,
      sql`UPDATE pebbles SET weight = 20 WHERE place = 2`,
      sql`UPDATE pebbles SET found = now() - interval '1 second' WHERE place = 2`,
      sql`UPDATE pebbles SET place = 3 WHERE place = 1`,
      sql`DELETE FROM pebbles WHERE place = 2`,
      sql`DELETE FROM pebbles`,
    ]
    for (const change of changes) {
      yield* change
      const found = yield* read(1)
      assert.notStrictEqual(found, seen.at(-1))
      assert.strictEqual(yield* read(1), found)
      seen.push(found)
    }
    assertEach(seen, (found) => found.length, [0, 2, 2, 2, 2, 2, 1, 0])
    assert.deepStrictEqual(seen[3], seen[1])
    assert.notDeepEqual(seen[4], seen[3])
  })

  it.effect("is evicted above the limit of bytes, the least used first", function* () {
    const sql = yield* SqlClient.SqlClient
    const made: Array<number> = []
    const read = yield* CachedReads.make({
      nameOf: (key: number) => String(key),
      statement: (key) => sql`SELECT repeat('x', 100000) || ${key}::text AS long`,
      make: (rows, key) => Effect.sync(() => (made.push(key), rows)),
    })
    // The cache has room for five.
    for (const key of [1, 2, 3, 4, 5, 1, 6, 1, 3, 2]) yield* read(key)
    assert.deepStrictEqual(made, [1, 2, 3, 4, 5, 6, 2])
  })
})
