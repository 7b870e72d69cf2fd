/** The chain's time is the database's: a server whose clock is a day off sets stones at the right time, and none after them waits. */
import { assert, layer } from "../lab/It.ts"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { buy } from "../lab/buyer/Purchase.ts"
import { ask, newCommitment, post, realClock, TestServer, world } from "../lab/Fixture.ts"
import { onOwnClock, pass } from "../lab/Clock.ts"
import { assertAnswer } from "../lab/Assertions.ts"

const dayMillis = 86_400_000

const databaseNow = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ now: Date }>`SELECT clock_timestamp() AS now`
  return row?.now.getTime() ?? 0
})

/** Bought in time by the database, by a server whose clock is ahead by so much. */
const buyStone = Effect.fnUntraced(function* (ahead: number) {
  yield* pass(ahead)
  const before = yield* databaseNow
  const { receipt, record } = yield* buy()
  yield* pass(-ahead)
  return { receipt, witnessedAt: String(record.witnessedAt), before, after: yield* databaseNow }
})

layer(onOwnClock(world()), realClock)("a server with a wrong clock", (it) => {
  it.effect("sets stones at the database's time, whether it is fast or slow", function* () {
    let last = ""
    for (const ahead of [3_600_000, -200_000, 0]) {
      const { after, before, receipt, witnessedAt } = yield* buyStone(ahead)
      assert.isAtLeast(Date.parse(witnessedAt), before, `clock ${ahead} ms ahead`)
      assert.isAtMost(Date.parse(witnessedAt), after, `clock ${ahead} ms ahead`)
      assert.isTrue(witnessedAt >= last, "the chain's time never runs back")
      assert.strictEqual(receipt.settledAt, witnessedAt)
      last = witnessedAt
    }
  })

  it.effect("sells today's prayer by the database when its own day is another", function* () {
    const { url } = yield* TestServer
    yield* pass(dayMillis)
    const day = new Date(yield* databaseNow).toISOString().slice(0, 10)
    const prayer = { agentName: "Wren", intentionCommitment: newCommitment() }
    const { receipt, record } = yield* buy("/api/prayers/moss-hare", prayer)
    const tomorrow = new Date(Date.parse(day) + dayMillis).toISOString().slice(0, 10)
    const refused = yield* ask(`${url}/api/prayers/dew-spider?day=${tomorrow}`, post(prayer))
    const altars = JSON.parse((yield* ask(`${url}/api/altars`)).text)
    const field = JSON.parse((yield* ask(`${url}/api/field`)).text)
    yield* pass(-dayMillis)
    assert.deepStrictEqual([record.day, altars.day, field.day, field.prayersToday], [day, day, day, 1])
    assert.strictEqual(record.offeredAt.slice(0, 10), day)
    assert.strictEqual(receipt.settledAt, record.offeredAt)
    assertAnswer(refused, 409, "prayer_day_not_today")
  })

  it.effect("continues from a head that is ahead of the database", function* () {
    const sql = yield* SqlClient.SqlClient
    const future = new Date((yield* databaseNow) + dayMillis)
    yield* sql`UPDATE witness_head SET witnessed_at = ${future.toISOString()}::timestamptz WHERE id = 1`
    for (let stones = 0; stones < 2; stones += 1) {
      assert.strictEqual((yield* buyStone(0)).witnessedAt, future.toISOString())
    }
  })
})
