/** A firewall forgets the connections to the database: no FIN, no RST, no acknowledgement. */
import { assert, describe, layer } from "../lab/It.ts"
import { Clock, Effect, Exit, Fiber, Redacted, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { LocalDatabase } from "../../src/sandbox/LocalDatabase.ts"
import * as Sql from "../../src/platform/Sql.ts"
import { assertAnswer } from "../lab/Assertions.ts"
import * as Purchase from "../lab/buyer/Purchase.ts"
import { database } from "../lab/Database.ts"
import { until } from "../lab/Eventually.ts"
import { ask, Proxies, realClock } from "../lab/Fixture.ts"
import { patientSeconds, slowness } from "../lab/Patience.ts"
import * as Silence from "../lab/proxy/Silence.ts"
import { codeOf, newRoom, poll, polled, sendSignal } from "../lab/server/Rooms.ts"
import { listening } from "../lab/server/ServerProcess.ts"
import { staged } from "../lab/server/Live.ts"

/** An effect's value, and the seconds that it takes. */
const timed = Effect.fnUntraced(function* <A, E, R>(effect: Effect.Effect<A, E, R>) {
  const before = yield* Clock.currentTimeMillis
  const value = yield* effect
  return { value, seconds: ((yield* Clock.currentTimeMillis) - before) / 1000 }
})

layer(database, { ...realClock, concurrent: true })("a session that falls silent", (it) => {
  const slow = "SELECT pg_sleep(20)"
  const sessions: Readonly<Record<string, (sql: SqlClient.SqlClient) => Effect.Effect<unknown, unknown>>> = {
    "with a statement": (sql) => sql.unsafe(slow),
    // The database drops the answer of each into the void.
    "with more statements than it shares": (sql) =>
      Effect.all(
        Array.from({ length: 40 }, () => sql.unsafe(slow)),
        { concurrency: "unbounded" },
      ),
    "in a transaction": (sql) => sql.withTransaction(sql.unsafe(slow)),
    "with a stream": (sql) => Stream.runDrain(sql.unsafe(slow).stream),
    "of a caller that left": (sql) => Effect.timeout(sql.unsafe(slow), "2 seconds"),
  }

  for (const [kind, session] of Object.entries(sessions)) {
    it.effect(`${kind} fails it as away and not as refused, and gets no further statement`, function* () {
      const { url } = yield* LocalDatabase
      const relay = yield* Silence.make(Redacted.value(url))
      yield* Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        // Further sessions fall silent while they are idle.
        yield* Effect.all(
          [1, 2, 3].map(() => sql.withTransaction(sql`SELECT 1`)),
          { concurrency: "unbounded" },
        )
        const held = yield* Effect.forkChild(timed(Effect.exit(session(sql))))
        yield* Effect.sleep("500 millis")
        assert.isAbove(yield* relay.silence, 1)
        const { seconds, value } = yield* Fiber.join(held)
        assert.isTrue(Exit.isFailure(value))
        assert.isBelow(seconds, 15 * slowness())
        if (kind !== "of a caller that left") {
          assert.isTrue(Exit.isFailure(value) && Sql.isAway(value.cause) && !Sql.isRefused(value.cause))
        } else yield* Effect.ignore(sql`SELECT 1`)
        assert.isBelow((yield* timed(sql`SELECT 1`)).seconds, 2 * slowness())
        assert.isBelow((yield* timed(sql.withTransaction(sql`SELECT 1`))).seconds, 2 * slowness())
      }).pipe(Effect.provide(Sql.layer(Redacted.make(relay.url))))
    })
  }

  it.effect("is outlived by no statement but that of a migration", function* () {
    const { url } = yield* LocalDatabase
    const limit = (isMigrating: boolean) =>
      Effect.flatMap(
        SqlClient.SqlClient,
        (sql) =>
          sql`SELECT current_setting('statement_timeout') AS statement,
              current_setting('idle_in_transaction_session_timeout') AS transaction`,
      ).pipe(Effect.provide(Sql.layer(url, 1, isMigrating)))
    assert.deepStrictEqual(yield* limit(false), [{ statement: "8s", transaction: "10s" }])
    assert.deepStrictEqual(yield* limit(true), [{ statement: "0", transaction: "10s" }])
  })
})

/** A server whose way to the database can be silenced, in front of the database's proxy. */
const silenceable = Effect.gen(function* () {
  const { database } = yield* Proxies
  const { silence, url } = yield* Silence.make(database.url)
  const server = yield* listening({
    DATABASE_URL: url,
    TRUSTED_PROXIES: "127.0.0.1",
    TEST_SWEEP_SECONDS: "2",
    TEST_SETTLE_SECONDS: patientSeconds(6),
  })
  return { silence, server, database, url: server.url }
})

const read = (url: string, path = "/api/acts") => ask(`${url}${path}`)

/** Several sessions, some of them reserved. */
const warm = (url: string) =>
  Effect.all(
    ["/api/acts", "/api/witness", "/api/candles", "/api/health", "/api/health", "/api/spirits"].map((path) =>
      read(url, path),
    ),
    { concurrency: "unbounded" },
  )

const recovered = (url: string, path?: string) =>
  timed(read(url, path).pipe(until(`${path ?? "reads"} stay unanswered`, ({ status }) => status === 200)))

describe.concurrent("a server whose database connections fall silent", () => {
  for (const path of ["/api/acts", "/readyz?for=reads", "/api/health"]) {
    staged(`answers 200 again within 30 seconds when ${path} alone is asked`, function* () {
      const { silence, url } = yield* silenceable
      yield* warm(url)
      yield* silence
      assert.isBelow((yield* recovered(url, path)).seconds, 30 * slowness())
    })
  }

  staged("answers 200 again within 30 seconds under traffic", function* () {
    const { silence, url } = yield* silenceable
    yield* warm(url)
    const traffic = yield* Effect.forEach(
      ["/api/acts", "/api/witness", "/api/candles", "/api/spirits", "/api/witness/chain"],
      (path) => Effect.forkChild(Effect.forever(Effect.andThen(read(url, path), Effect.sleep("20 millis")))),
    )
    yield* silence
    assert.isBelow((yield* recovered(url)).seconds, 30 * slowness())
    yield* Effect.forEach(traffic, Fiber.interrupt)
    yield* warm(url).pipe(until("some stay unanswered", (answers) => answers.every(({ status }) => status === 200)))
  })

  staged("after the claim of a payment buys with it once when the request is repeated", function* () {
    const { database, silence, url } = yield* silenceable
    const purchase = yield* Purchase.prepareAt(url)
    const trap = database.arm(/INSERT INTO payment_attempts/u, "holdAfter")
    const request = yield* Purchase.sendInto(trap, purchase)
    yield* silence
    yield* database.calm
    yield* trap.release
    const { seconds, value } = yield* timed(Fiber.join(request))
    assertAnswer(value, 503, "unavailable")
    assert.match(String(value.json["message"]), /do not sign another/u)
    assert.isBelow(seconds, 20 * slowness())
    yield* Purchase.send(purchase)
    yield* Purchase.ended(purchase)
    yield* Purchase.assertSettled(purchase)
    yield* Purchase.assertNextStone(url)
  })

  for (const [moment, fault] of [
    ["before", "holdBefore"],
    ["after", "holdAfter"],
  ] as const) {
    staged(`just ${moment} the COMMIT of a stone leaves its payment pending, and records it once`, function* () {
      const { database, silence, url } = yield* silenceable
      const purchase = yield* Purchase.prepareAt(url)
      const head = database.arm(/UPDATE witness_head/u, "holdBefore")
      const request = yield* Purchase.sendInto(head, purchase)
      const trap = database.arm(/^COMMIT$/u, fault)
      yield* head.release
      yield* trap.arrived
      yield* silence
      yield* database.calm
      // The database commits, and its answer is dropped.
      if (fault === "holdAfter") yield* trap.release
      Purchase.assertPending(purchase, yield* Fiber.join(request))
      if (fault === "holdBefore") yield* trap.release
      yield* Purchase.ended(purchase)
      yield* Purchase.assertSettled(purchase)
      yield* Purchase.assertNextStone(url)
    })
  }

  staged("after a room's message was stored repeats it under its clientId", function* () {
    const { database, silence, url } = yield* silenceable
    const guest = yield* newRoom(url)
    const trap = database.arm(/INSERT INTO room_messages|UPDATE rooms/u, "holdAfter")
    const change = { clientId: "once-1" }
    const request = yield* Effect.forkChild(sendSignal(guest, change))
    yield* trap.arrived
    yield* silence
    yield* database.calm
    yield* trap.release
    const answer = yield* Fiber.join(request)
    assert.deepStrictEqual([answer.status, codeOf(answer)], [503, "UNAVAILABLE"])
    const repeated = yield* sendSignal(guest, change).pipe(until("rooms stay away", ({ status }) => status < 500))
    assert.deepStrictEqual([repeated.status, JSON.parse(repeated.text).duplicate], [200, true], repeated.text)
    assert.lengthOf(polled(yield* poll(guest)).messages, 1)
  })
})
