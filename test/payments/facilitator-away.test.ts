/** A facilitator that cannot be asked, or does not settle: nothing is claimed. One that goes away afterwards: nothing is lost. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { Fail } from "../../src/payments/ledger/Fail.ts"
import type { SupportFault } from "../lab/proxy/Facilitator.ts"
import { patience } from "../lab/Patience.ts"
import { proxiedServer, Proxies } from "../lab/server/ProxiedServer.ts"
import * as Purchase from "../lab/buyer/Purchase.ts"
import { broadcast } from "../lab/buyer/ThirdParty.ts"
import { type Answer, ask, newCommitment, newKey, post, World } from "../lab/Fixture.ts"

const still = proxiedServer("facilitator")
const sweeping = proxiedServer("facilitator", "1 second", "200 millis")

const rows = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ readonly attempts: number; readonly claims: number }>`
    SELECT (SELECT count(*)::int FROM payment_attempts) AS attempts, (SELECT count(*)::int FROM payment_claims) AS claims`
  return row
}).pipe(Effect.orDie)

const assertAway = (answer: Answer) => {
  assert.deepStrictEqual([answer.status, answer.json["code"]], [503, "facilitator_unavailable"], answer.text)
  assert.match(
    String(answer.json["message"]),
    /^The facilitator .* does not say .* send the same request again later\. This request charged nothing\.$/u,
  )
}

/** Neither an offer nor a claim is made, whoever watches is told, and what is free works. */
const sellsNothing = Effect.fnUntraced(function* (purchase: Purchase.Purchase) {
  const { url } = yield* World
  // Its last word is believed for some seconds.
  yield* ask(`${url}/readyz`).pipe(
    Effect.repeat({ until: ({ status }) => status === 503, schedule: Schedule.spaced("100 millis") }),
    Effect.timeoutOrElse({ duration: patience(30), orElse: () => Effect.die("it is never unready") }),
  )
  const offer = post({ commitment: newCommitment() }, { "idempotency-key": newKey() })
  assertAway(yield* ask(`${url}/api/witness`, offer))
  assertAway(yield* Purchase.send(url, purchase))
  assert.deepStrictEqual(yield* rows, { attempts: 0, claims: 0 })
  const health = yield* ask(`${url}/api/health`)
  assert.strictEqual(health.status, 503)
  assert.deepInclude(JSON.parse(health.text).payments, { settlement: "failing" })
  const ready = yield* ask(`${url}/readyz`)
  assert.deepStrictEqual([ready.status, ready.json["settlement"]], [503, "failing"])
  assert.strictEqual((yield* ask(`${url}/readyz?for=reads`)).status, 200)
  assert.strictEqual((yield* ask(`${url}/api/witness`)).status, 200)
})

/** The same request is good as soon as it says so again. */
const sellsAgain = Effect.fnUntraced(function* (purchase: Purchase.Purchase) {
  const { url } = yield* World
  const answer = yield* Purchase.send(url, purchase).pipe(
    Effect.repeat({ until: ({ status }) => status !== 503, schedule: Schedule.spaced("100 millis") }),
    Effect.timeoutOrElse({ duration: patience(30), orElse: () => Effect.die("it never sells again") }),
  )
  assert.strictEqual(answer.status, 201, answer.text)
  yield* Purchase.assertSettled(url, purchase)
})

describe("before the claim, a facilitator that", { concurrent: true }, () => {
  const ways: ReadonlyArray<readonly [what: string, support: SupportFault]> = [
    ["says nothing at all", "supportedHold"],
    ["does not know our key", "supportedUnauthorized"],
    ["settles on another network", "supportedElsewhere"],
  ]
  for (const [what, support] of ways) {
    it.live(`${what} sells nothing until it settles`, () =>
      Effect.gen(function* () {
        const { url } = yield* World
        const { facilitator } = yield* Proxies
        const purchase = yield* Purchase.prepare(url)
        facilitator.arm(support)
        yield* sellsNothing(purchase)
        yield* facilitator.calm
        yield* sellsAgain(purchase)
      }).pipe(Effect.provide(still)),
    )
  }

  it.live("takes no connection sells nothing until it is back", () =>
    Effect.gen(function* () {
      const { url } = yield* World
      const { facilitator } = yield* Proxies
      const purchase = yield* Purchase.prepare(url)
      yield* facilitator.leave
      yield* sellsNothing(purchase)
      yield* facilitator.comeBack
      yield* sellsAgain(purchase)
    }).pipe(Effect.provide(still)),
  )
})

/** Its last word was that it settles, which is believed for some seconds. */
const saysThatItSettles = Effect.gen(function* () {
  const { url } = yield* World
  assert.strictEqual((yield* ask(`${url}/readyz`)).status, 200)
})

const attemptOf = (purchase: Purchase.Purchase) =>
  Effect.map(Purchase.attemptOf(purchase), (attempt) => attempt ?? assert.fail("there is no attempt"))

/** It was claimed an hour ago, and is due. */
const anHourLater = Effect.fnUntraced(function* ({ key }: Purchase.Purchase) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`UPDATE payment_attempts SET next_check_at = now(), accepted_at = accepted_at - interval '1 hour'
    WHERE idempotency_key = ${key}`.pipe(Effect.orDie)
})

describe("after the claim, a facilitator that", { concurrent: true }, () => {
  it.live("takes no connection was handed nothing: the attempt ends at once", () =>
    Effect.gen(function* () {
      const { url } = yield* World
      const { database, facilitator } = yield* Proxies
      const purchase = yield* Purchase.prepare(url)
      const another = yield* Purchase.prepare(url)
      yield* saysThatItSettles
      // It leaves once it is believed, not when its last word is so old that it is asked again.
      const intent = database.arm(/INSERT INTO payment_attempts/u, "holdBefore")
      const request = yield* Effect.forkScoped(Purchase.send(url, purchase))
      yield* intent.arrived
      yield* facilitator.leave
      yield* database.calm
      yield* intent.release
      const answer = yield* Fiber.join(request)
      assert.deepStrictEqual(
        [answer.status, answer.json["code"], answer.json["reason"]],
        [402, "payment_failed", "facilitator_unreachable"],
        answer.text,
      )
      assert.match(
        String(answer.json["message"]),
        /^The facilitator .* not submitted\. This request charged nothing; .* Start again later with a new Idempotency-Key\.$/u,
      )
      assert.strictEqual(facilitator.asked(), 0)
      assertAway(yield* Purchase.send(url, another))
      yield* facilitator.comeBack
      yield* ask(`${url}/readyz`).pipe(
        Effect.repeat({ until: ({ status }) => status === 200, schedule: Schedule.spaced("100 millis") }),
        Effect.timeoutOrElse({ duration: patience(30), orElse: () => Effect.die("it is never ready again") }),
      )
      yield* Purchase.assertFailed(url, purchase, "facilitator_unreachable")
    }).pipe(Effect.provide(still)),
  )

  it.live("took the connection and hung up may have read it: the attempt stays open", () =>
    Effect.gen(function* () {
      const { url } = yield* World
      const { facilitator } = yield* Proxies
      const purchase = yield* Purchase.prepare(url)
      const trap = facilitator.arm("holdBefore")
      yield* Effect.forkScoped(Effect.andThen(trap.arrived, trap.discard))
      Purchase.assertPending(url, purchase, yield* Purchase.send(url, purchase))
      assert.deepInclude(yield* attemptOf(purchase), { state: "pending", acts: 0 })
    }).pipe(Effect.provide(still)),
  )

  for (const fault of ["unauthorizedBefore", "rateLimitBefore", "nonsenseBefore"] as const) {
    it.live(`answers so that nothing is known is asked again by a sweep, and pays once (${fault})`, () =>
      Effect.gen(function* () {
        const { url } = yield* World
        const { facilitator } = yield* Proxies
        const purchase = yield* Purchase.prepare(url)
        facilitator.arm(fault)
        Purchase.assertPending(url, purchase, yield* Purchase.send(url, purchase))
        yield* facilitator.calm
        yield* anHourLater(purchase)
        yield* Purchase.ended(purchase)
        assert.strictEqual(facilitator.asked(), 2)
        yield* Purchase.assertSettled(url, purchase)
      }).pipe(Effect.provide(sweeping)),
    )
  }

  // I13
  it.live("is asked again is kept to itself by whoever asks, however often the client does", () =>
    Effect.gen(function* () {
      const { url } = yield* World
      const { facilitator } = yield* Proxies
      const sql = yield* SqlClient.SqlClient
      const purchase = yield* Purchase.prepare(url)
      facilitator.arm("nonsenseBefore")
      Purchase.assertPending(url, purchase, yield* Purchase.send(url, purchase))
      Purchase.assertPending(url, purchase, yield* Purchase.reconcile(url, purchase))
      assert.strictEqual(facilitator.asked(), 1, "a client's question hands nothing in")
      const trap = facilitator.arm("holdBefore")
      yield* anHourLater(purchase)
      yield* trap.arrived
      Purchase.assertPending(url, purchase, yield* Purchase.reconcile(url, purchase))
      Purchase.assertPending(url, purchase, yield* Purchase.send(url, purchase))
      const held = yield* sql`SELECT id FROM payment_attempts WHERE next_check_at > now() + interval '30 seconds'`
      assert.strictEqual(held.length, 1)
      yield* trap.release
      yield* Purchase.ended(purchase)
      assert.strictEqual(facilitator.asked(), 2)
      yield* Purchase.assertSettled(url, purchase)
    }).pipe(Effect.provide(proxiedServer("facilitator", "20 seconds", "200 millis"))),
  )

  // I13
  it.live("is back is asked again by a sweep while a client keeps asking", () =>
    Effect.gen(function* () {
      const { url } = yield* World
      const { facilitator } = yield* Proxies
      const sql = yield* SqlClient.SqlClient
      const purchase = yield* Purchase.prepare(url)
      facilitator.arm("nonsenseBefore")
      Purchase.assertPending(url, purchase, yield* Purchase.send(url, purchase))
      yield* facilitator.calm
      // After as many looks each one is a minute before the next.
      yield* sql`UPDATE payment_attempts SET checks = 6, next_check_at = now() + interval '3 seconds',
        accepted_at = accepted_at - interval '1 hour'`
      Purchase.assertPending(url, purchase, yield* Purchase.reconcile(url, purchase))
      const told = yield* Purchase.reconcile(url, purchase).pipe(
        Effect.repeat({ until: ({ status }) => status !== 202, schedule: Schedule.spaced("1 second") }),
        // A node that did not answer one sweep is asked by the next, a minute later.
        Effect.timeoutOrElse({ duration: patience(100), orElse: () => Effect.die("it is not handed in again") }),
      )
      assert.strictEqual(told.status, 200, told.text)
      assert.strictEqual(facilitator.asked(), 2)
      yield* Purchase.assertSettled(url, purchase)
    }).pipe(Effect.provide(sweeping)),
  )

  it.live("takes its time when it is asked again holds up no other payment", () =>
    Effect.gen(function* () {
      const { url } = yield* World
      const { facilitator } = yield* Proxies
      const sql = yield* SqlClient.SqlClient
      const [slow, other] = [yield* Purchase.prepare(url), yield* Purchase.prepare(url)]
      for (const purchase of [slow, other]) {
        facilitator.arm("nonsenseBefore")
        Purchase.assertPending(url, purchase, yield* Purchase.send(url, purchase))
      }
      const trap = facilitator.arm("holdBefore")
      yield* anHourLater(slow)
      yield* trap.arrived
      yield* broadcast(other)
      yield* sql`UPDATE payment_attempts SET next_check_at = now() WHERE idempotency_key = ${other.key}`
      assert.strictEqual(yield* Purchase.ended(other), "settled")
      assert.strictEqual((yield* attemptOf(slow)).state, "pending")
      yield* trap.release
      assert.strictEqual(yield* Purchase.ended(slow), "settled")
      assert.strictEqual(facilitator.asked(), 3)
      yield* Purchase.audit(url)
    }).pipe(Effect.provide(proxiedServer("facilitator", "2 minutes", "200 millis"))),
  )

  it.live("has refused it, or named a transaction, is not asked again", () =>
    Effect.gen(function* () {
      const { url } = yield* World
      const { facilitator } = yield* Proxies
      const purchases = [yield* Purchase.prepare(url), yield* Purchase.prepare(url)]
      for (const [index, fault] of (["refuseBefore", "imagineBefore"] as const).entries()) {
        const purchase = purchases[index] ?? assert.fail()
        facilitator.arm(fault)
        Purchase.assertPending(url, purchase, yield* Purchase.send(url, purchase))
      }
      yield* facilitator.calm
      for (const purchase of purchases) {
        yield* Effect.andThen(anHourLater(purchase), attemptOf(purchase)).pipe(
          Effect.repeat({ until: ({ checks }) => checks >= 4, schedule: Schedule.spaced("300 millis") }),
          Effect.timeoutOrElse({ duration: patience(60), orElse: () => Effect.die("nobody looks") }),
        )
      }
      assert.strictEqual(facilitator.asked(), 2)
    }).pipe(Effect.provide(sweeping)),
  )
})

describe("an attempt that nobody has read", () => {
  // I10
  it.live("is ended as such only while nobody else can have handed it in", () =>
    Effect.gen(function* () {
      const { url } = yield* World
      const { facilitator } = yield* Proxies
      const sql = yield* SqlClient.SqlClient
      const { failUnsent } = yield* Fail
      const purchase = yield* Purchase.prepare(url)
      facilitator.arm("nonsenseBefore")
      Purchase.assertPending(url, purchase, yield* Purchase.send(url, purchase))
      const [row] = yield* sql<{ readonly id: string }>`SELECT id FROM payment_attempts`
      const { id } = row ?? assert.fail()
      assert.strictEqual((yield* failUnsent(id, "facilitator_unreachable", true)).state, "pending")
      yield* sql`UPDATE payment_attempts SET checks = 0`
      assert.strictEqual((yield* failUnsent(id, "facilitator_unreachable", true)).state, "failed")
    }).pipe(Effect.provide(Layer.provideMerge(Fail.layer, still))),
  )
})
