/** When a server sells: how soon it knows a pause, with a wrong clock of its own, and after it lost its configuration. */
import { assert, layer } from "../lab/It.ts"
import { Clock, Effect, Layer, Option } from "effect"
import { TestClock } from "effect/testing"
import { SqlClient } from "effect/sql"
import { Selling } from "../../src/payments/Availability.ts"
import { buy, prepare, reconcile, send } from "../lab/buyer/Purchase.ts"
import { database, sql } from "../lab/Database.ts"
import { assertAnswer } from "../lab/Assertions.ts"
import { heldClock } from "../lab/Clock.ts"
import { becomes, realClock, TestServer, world, anotherServer } from "../lab/Fixture.ts"

const selling = Selling.layer.pipe(Layer.provideMerge(sql), Layer.provide(database), Layer.orDie)

layer(selling, { excludeTestServices: false })("the pause of sales", (it) => {
  it.effect("is known two seconds after it began and after it ended, and costs no question before", function* () {
    const { pause, resume, state } = yield* Selling
    const paused = Effect.map(state, (found) => Option.isSome(found.pausedSince))
    assert.isFalse(yield* paused)
    assert.isTrue(yield* pause("stock-taking"))
    assert.isFalse(yield* pause("again"))
    yield* TestClock.adjust(1999)
    assert.isFalse(yield* paused, "an answer is reused for two seconds")
    yield* TestClock.adjust(1)
    assert.isTrue(yield* paused)
    assert.isTrue(yield* resume)
    assert.isFalse(yield* resume)
    yield* TestClock.adjust(2000)
    assert.isFalse(yield* paused)
  })
})

/** A clock that stands so many seconds ahead of the machine's. */
const ahead = (seconds: number) =>
  Layer.effect(
    Clock.Clock,
    Effect.map(heldClock, ({ clock, put }) => {
      put(Date.now() + seconds * 1000)
      return clock
    }),
  )

const answerTo = Effect.fnUntraced(function* (life: number) {
  return yield* send(yield* prepare({ validBefore: String(Math.floor(Date.now() / 1000) + life) }))
})

const clocks = [
  ["ahead", 150],
  ["behind", -150],
] as const
for (const [way, seconds] of clocks) {
  layer(world().pipe(Layer.provide(ahead(seconds))), realClock)(`a server clock 150 seconds ${way}`, (it) => {
    it.effect("accepts an honest authorization of 60 seconds and refuses one that lives too long", function* () {
      const bought = yield* answerTo(60)
      assert.strictEqual(bought.status, 201, bought.text)
      for (const life of [601 + 60, -60])
        assertAnswer(
          yield* answerTo(life),
          402,
          "payment_invalid",
          "invalid_exact_evm_payload_authorization_valid_before",
        )
    })

    it.effect("fails /readyz and /api/health, and does not affect reads", function* () {
      const { url } = yield* TestServer
      yield* becomes(`${url}/readyz`, 503, { ready: false, clock: "failing" })
      yield* becomes(`${url}/readyz?for=reads`, 200, { clock: "failing" })
      yield* becomes(`${url}/api/health`, 503, { ok: false, clock: "failing" })
    })
  })
}

layer(world().pipe(Layer.provide(ahead(20))), realClock)("a server clock 20 seconds ahead", (it) => {
  it.effect("is within the tolerance of 30 seconds", function* () {
    const { url } = yield* TestServer
    yield* becomes(`${url}/readyz`, 200, { clock: "ok" })
  })
})

layer(world(), realClock)("a server that lost its payment configuration", (it) => {
  it.effect("replays settled purchases, and says that it cannot offer a failed purchase again", function* () {
    const sql = yield* SqlClient.SqlClient
    const unpaid = yield* anotherServer({}, { payments: ["PAY_TO"] })
    const { answer, key } = yield* buy()
    const asked = Effect.suspend(() => reconcile({ key, server: unpaid }))

    const settled = yield* asked
    assert.strictEqual(settled.status, 200)
    assert.strictEqual(settled.text, answer.text.replace(/false\}$/u, "true}"))

    yield* sql`
        UPDATE payment_attempts SET state = 'failed', reason = 'authorization_expired', answer = NULL
        WHERE idempotency_key = ${key}`
    const failed = yield* asked
    assertAnswer(failed, 503, "payments_unavailable")
  })
})
