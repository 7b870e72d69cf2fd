/** UTC midnight by the database, on a clock that the test holds still: slots keep their day, ceilings start anew, candles end. */
import { assert, layer } from "../lab/It.ts"
import { Clock, Context, Duration, Effect, Fiber, Layer } from "effect"
import { database, sql as ownSql } from "../lab/Database.ts"
import { LocalChain } from "../../src/sandbox/LocalChain.ts"
import { SqlClient } from "effect/sql"
import { heldClock, type HeldClock } from "../lab/Clock.ts"
import { patience } from "../lab/Patience.ts"
import { ask, newCommitment, newKey, newPayer, post, read, realClock, TestServer, world } from "../lab/Fixture.ts"
import { chainClient } from "../lab/Chain.ts"
import { challengeOf, encode, sign } from "../lab/buyer/Payment.ts"
import { storedAnswer } from "../lab/buyer/Purchase.ts"
import { until } from "../lab/Eventually.ts"
import { assertAnswer } from "../lab/Assertions.ts"

/** The clock of server and database. */
class ControlledClock extends Context.Service<
  ControlledClock,
  { readonly clock: HeldClock["clock"]; readonly put: (millis: number) => Effect.Effect<void> }
>()("test/ControlledClock") {}

/** The database reads this clock from a table, until its sessions are opened anew. */
const hands = Layer.effect(
  ControlledClock,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const { clock, put } = yield* heldClock
    yield* sql`CREATE SCHEMA held`
    yield* sql`CREATE TABLE held.clock (at timestamptz NOT NULL)`
    yield* sql`INSERT INTO held.clock VALUES (pg_catalog.clock_timestamp())`
    yield* sql`CREATE FUNCTION held.clock_timestamp() RETURNS timestamptz LANGUAGE sql AS 'SELECT at FROM held.clock'`
    yield* sql`DO $$ BEGIN
      EXECUTE format('ALTER DATABASE %I SET search_path = held, pg_catalog, public', current_database()); END $$`
    const both = (millis: number) =>
      Effect.andThen(
        Effect.sync(() => put(millis)),
        sql`UPDATE held.clock SET at = ${new Date(millis).toISOString()}::timestamptz`,
      )
    return { clock, put: (millis) => Effect.asVoid(Effect.orDie(both(millis))) }
  }),
).pipe(Layer.provide(Layer.fresh(ownSql)), Layer.provide(database), Layer.orDie)

const held = Layer.unwrap(
  Effect.map(ControlledClock, ({ clock }) =>
    world({ patience: Duration.millis(patience(5)) }).pipe(Layer.provide(Layer.succeed(Clock.Clock, clock))),
  ),
).pipe(Layer.provideMerge(hands))

const dayMillis = 86_400_000
const midnight = (Math.floor(Date.now() / dayMillis) + 1) * dayMillis
const dayOf = (millis: number) => new Date(millis).toISOString().slice(0, 10)

/** Signs by the time of the database, which is ahead of the chain's. */
const buy = Effect.fnUntraced(function* (path: string, body: object) {
  const { clock } = yield* ControlledClock
  const validBefore = String(Math.floor(clock.currentTimeMillisUnsafe() / 1000) + 290)
  const { url } = yield* TestServer
  const payer = yield* newPayer()
  const key = newKey()
  const asked = yield* ask(`${url}${path}`, post(body, { "idempotency-key": key }))
  if (asked.status !== 402) return { answer: asked, key }
  const challenge = challengeOf(asked)
  const payment = yield* sign(payer, challenge.accepts[0], challenge.resource, { validBefore })
  const request = post(body, { "idempotency-key": key, "payment-signature": encode(payment) })
  return { answer: yield* ask(`${url}${path}`, request), key, request }
})

layer(held, realClock)("at UTC midnight", (it) => {
  it.effect("a prayer held at 23:59:59.999 keeps its day, and the new day has its own slot", function* () {
    const { url } = yield* TestServer
    const { put } = yield* ControlledClock
    const { rpcUrl } = yield* LocalChain
    const chain = chainClient(rpcUrl)
    const prayer = { agentName: "Wren", intentionCommitment: newCommitment() }
    yield* put(midnight - 1)
    yield* Effect.promise(() => chain.setAutomine(false))
    const buying = yield* Effect.forkChild(buy("/api/prayers/moss-hare", prayer))
    // The faucet needs a block of its own before the payer can pay.
    yield* Effect.promise(() => chain.getTxpoolStatus()).pipe(
      until("the faucet sent nothing", ({ pending }) => pending > 0),
    )
    yield* Effect.promise(() => chain.mine({ blocks: 1 }))
    const first = yield* Fiber.join(buying)
    assert.strictEqual(first.answer.status, 202, first.answer.text)
    const today = yield* ask(`${url}/api/prayers/moss-hare`, post(prayer, { "idempotency-key": newKey() }))
    assert.strictEqual(today.json["code"], "prayer_slot_taken")

    yield* put(midnight)
    const tomorrow = yield* ask(
      `${url}/api/prayers/moss-hare?day=${dayOf(midnight - 1)}`,
      post(prayer, { "idempotency-key": newKey() }),
    )
    assert.strictEqual(tomorrow.json["code"], "prayer_day_not_today")
    yield* Effect.promise(() => chain.setAutomine(true))
    yield* Effect.promise(() => chain.mine({ blocks: 1 }))
    const settled = yield* storedAnswer({ key: first.key, server: url })
    assert.strictEqual(settled.status, 200, settled.text)
    const { record } = JSON.parse(settled.text)
    assert.deepStrictEqual([record.day, record.offeredAt], [dayOf(midnight - 1), new Date(midnight).toISOString()])

    const second = yield* buy(`/api/prayers/moss-hare?day=${dayOf(midnight)}`, prayer)
    assert.strictEqual(second.answer.status, 201, second.answer.text)
    assert.strictEqual(JSON.parse(second.answer.text).record.day, dayOf(midnight))
  })

  it.effect("a prayer paid for yesterday is still answered to its key, and to no other", function* () {
    const { url } = yield* TestServer
    const { put } = yield* ControlledClock
    const path = `/api/prayers/frost-stoat?day=${dayOf(midnight - 1)}`
    const prayer = { agentName: "Wren", intentionCommitment: newCommitment() }
    yield* put(midnight - 1)
    const { answer, key, request } = yield* buy(path, prayer)
    assert.strictEqual(answer.status, 201, answer.text)
    yield* put(midnight)
    const unsigned = post(prayer, { "idempotency-key": key })
    for (const again of [yield* ask(`${url}${path}`, request), yield* ask(`${url}${path}`, unsigned)]) {
      assert.strictEqual(again.status, 200, again.text)
      assert.deepStrictEqual(again.json["record"], answer.json["record"])
    }
    for (const spirit of ["frost-stoat", "dew-spider"]) {
      const other = yield* buy(`/api/prayers/${spirit}?day=${dayOf(midnight - 1)}`, prayer)
      assert.deepStrictEqual([other.answer.status, other.answer.json["code"]], [409, "prayer_day_not_today"])
    }
    // The day is checked before the slot: today's slot is taken by now, and the refusal still names the day.
    assert.strictEqual((yield* buy("/api/prayers/frost-stoat", prayer)).answer.status, 201)
    const late = yield* buy(path, prayer)
    assert.strictEqual(late.answer.json["code"], "prayer_day_not_today")
  })

  it.effect("the daily ceiling of stones starts again", function* () {
    const { url } = yield* TestServer
    const sql = yield* SqlClient.SqlClient
    const { put } = yield* ControlledClock
    const pool = `witness:${dayOf(midnight - 1)}`
    yield* sql`INSERT INTO payment_pools (name, drawn, highest) VALUES (${pool}, 4999, 4999)`
    const stone = () =>
      ask(`${url}/api/witness`, post({ commitment: newCommitment() }, { "idempotency-key": newKey() }))
    yield* put(midnight - 1)
    assert.strictEqual((yield* stone()).json["code"], "payment_required")
    yield* sql`UPDATE payment_pools SET drawn = 5000, highest = 5000 WHERE name = ${pool}`
    const over = yield* stone()
    assertAnswer(over, 409, "witness_ceiling_today")
    assert.match(String(over.json["message"]), /This request charged nothing\.$/u)
    yield* put(midnight)
    assert.strictEqual((yield* stone()).json["code"], "payment_required")
  })

  it.effect("a candle of one day burns to the millisecond", function* () {
    const { url } = yield* TestServer
    const { put } = yield* ControlledClock
    yield* put(midnight - 1)
    const { answer } = yield* buy("/api/candles/day/rain-crow", { dedication: "Until tomorrow" })
    assert.strictEqual(answer.status, 201, answer.text)
    const { id, litAt, litUntil } = JSON.parse(answer.text).record
    assert.deepStrictEqual(
      [litAt, litUntil],
      [midnight - 1, midnight - 1 + dayMillis].map((at) => new Date(at).toISOString()),
    )
    const week = yield* buy("/api/candles/week/rain-crow", { dedication: "Until next week" })
    yield* buy("/api/candles/day/rain-crow", { parentId: JSON.parse(week.answer.text).record.id })
    /** Lit candles, and the burning lights of the longer one, wherever they are counted. */
    const lit = Effect.gen(function* () {
      const wall = yield* read("/api/candles?spirit=rain-crow")
      const { altars } = yield* read("/api/altars")
      const { candles, litCandles } = altars.find(({ spirit }: { spirit: string }) => spirit === "rain-crow")
      const lights = [...wall.candles, ...candles].flatMap(({ lightCount, rung }) =>
        rung === "week" ? [lightCount] : [],
      )
      return [wall.lit, litCandles, (yield* read("/api/field")).litCandles, ...lights]
    })
    const light = () => ask(`${url}/api/candles/day/rain-crow`, post({ parentId: id }, { "idempotency-key": newKey() }))
    yield* put(midnight - 2 + dayMillis)
    assert.deepStrictEqual(yield* lit, [2, 2, 2, 1, 1])
    assert.strictEqual((yield* light()).json["code"], "payment_required")
    yield* put(midnight - 1 + dayMillis)
    assert.deepStrictEqual(yield* lit, [1, 1, 1, 0, 0])
    assert.strictEqual((yield* light()).json["code"], "parent_not_lit")
  })
})
