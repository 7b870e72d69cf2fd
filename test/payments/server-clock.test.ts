/** A server whose own clock is wrong sells by the database's clock, and says that it is not ready. */
import { Clock, Effect, Layer } from "effect"
import { ask, layer as world, newCommitment, newPayer, pay, TestServer } from "../lab/Fixture.ts"
import { heldClock } from "../lab/Clock.ts"
import { assert, assertAnswer, suite } from "../lab/Suites.ts"

/** A clock that stands so many seconds ahead of the machine's. */
const ahead = (seconds: number) =>
  Layer.effect(
    Clock.Clock,
    Effect.map(heldClock, ({ clock, put }) => {
      put(Date.now() + seconds * 1000)
      return clock
    }),
  )

const buy = Effect.fnUntraced(function* (life: number) {
  const { url } = yield* TestServer
  const validBefore = String(Math.floor(Date.now() / 1000) + life)
  return (yield* pay(yield* newPayer(), `${url}/api/witness`, { commitment: newCommitment() }, undefined, {
    validBefore,
  })).answer
})

const clocks = [
  ["ahead", 150],
  ["behind", -150],
] as const
for (const [way, seconds] of clocks) {
  suite(`a server clock 150 seconds ${way}`, world().pipe(Layer.provide(ahead(seconds))), (it) => {
    it("accepts an honest authorization of 60 seconds and refuses one that lives too long", function* () {
      const bought = yield* buy(60)
      assert.strictEqual(bought.status, 201, bought.text)
      for (const life of [601 + 60, -60])
        assertAnswer(yield* buy(life), 402, "payment_invalid", "invalid_exact_evm_payload_authorization_valid_before")
    })

    it("fails /readyz and /api/health, and does not affect reads", function* ({ url }) {
      const ready = yield* ask(`${url}/readyz`)
      assert.deepStrictEqual([ready.status, ready.json["ready"], ready.json["clock"]], [503, false, "failing"])
      const reads = yield* ask(`${url}/readyz?for=reads`)
      assert.deepStrictEqual([reads.status, reads.json["clock"]], [200, "failing"])
      const health = yield* ask(`${url}/api/health`)
      assert.deepStrictEqual([health.status, health.json["ok"], health.json["clock"]], [503, false, "failing"])
    })
  })
}

suite("a server clock 20 seconds ahead", world().pipe(Layer.provide(ahead(20))), (it) => {
  it("is within the tolerance of 30 seconds", function* ({ url }) {
    const ready = yield* ask(`${url}/readyz`)
    assert.deepStrictEqual([ready.status, ready.json["clock"]], [200, "ok"], ready.text)
  })
})
