/** For every answer or silence of the card processor, a request is answered 202 until there is evidence, and charged once. */
import { assert, describe, it } from "../lab/It.ts"
import { Duration, Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import { onServer } from "../lab/server/Live.ts"
import type { CardFault } from "../lab/proxy/CardFaults.ts"
import { cardBooks, carded, cardsOf, prepareByCard, Processor } from "../lab/buyer/Cards.ts"
import { afterNextSweep, type Paid, reconcile, send, storedAnswer } from "../lab/buyer/Purchase.ts"
import { until } from "../lab/Eventually.ts"
import { assertAnswer } from "../lab/Assertions.ts"
import { type Answer, TestServer, anotherServer } from "../lab/Fixture.ts"

const byCardPatiently = onServer(carded("20 seconds"))

const byCard = onServer(carded())

const assertPending = ({ key, server }: Paid, answer: Answer) => {
  assertAnswer(answer, 202, "settlement_pending")
  assert.strictEqual(answer.headers.get("location"), `${server}/api/reconcile/${key}`)
  assert.match(String(answer.json["message"]), /Do not pay again/u)
  assert.isNull(answer.headers.get("payment-response"))
  assert.deepInclude(answer.json["attempt"], { network: null, validBefore: null, amountAtomic: "3000000" })
}

/** One charge, one candle, the same bytes to everybody, and all of it under one idempotency key. */
const assertSettled = Effect.fnUntraced(function* (purchase: Paid) {
  const bank = yield* Processor
  assert.deepInclude(yield* cardBooks(purchase), { state: "settled", taken: 1, acts: 1, candles: 1 })
  const [again, reconciled] = [yield* send(purchase), yield* reconcile(purchase)]
  assert.deepStrictEqual([again.status, reconciled.status, again.text], [200, 200, reconciled.text])
  assert.isNotNull(reconciled.headers.get("payment-receipt"))
  assert.deepStrictEqual([bank.requests().keys, bank.taken().length], [1, 1])
})

const suffer = Effect.fnUntraced(function* (fault: CardFault) {
  const { url } = yield* TestServer
  const bank = yield* Processor
  const purchase = yield* prepareByCard(url)
  const trap = bank.arm(fault)
  const first = yield* send(purchase)
  yield* trap.arrived
  return { bank, purchase, trap, first }
})

describe.concurrent("a charge whose response never arrives", () => {
  it.live.each([
    ["is found under its idempotency key, when it was made", "dropAfter", 1],
    ["is made later under the same key, when it was not made", "dropBefore", 0],
  ] as const)("%s", ([, fault, taken]) =>
    Effect.gen(function* () {
      const { bank, first, purchase } = yield* suffer(fault)
      assertPending(purchase, first)
      assertPending(purchase, yield* send(purchase))
      assert.strictEqual(bank.taken().length, taken)
      yield* bank.calm
      const answer = yield* storedAnswer(purchase)
      assert.strictEqual(answer.status, 200, answer.text)
      yield* assertSettled(purchase)
    }).pipe(Effect.provide(carded())),
  )
})

describe.concurrent("a charge that the processor made, but whose response", () => {
  byCard("says that it is in progress, is swept on schedule, however often its client asks", function* () {
    const sql = yield* SqlClient.SqlClient
    const { bank, first, purchase, trap } = yield* suffer("holdDuring")
    const due = Effect.map(
      sql<{ readonly at: Date; readonly checks: number }>`
        SELECT next_check_at AS at, checks FROM payment_attempts WHERE idempotency_key = ${purchase.key}`,
      ([row]) => row ?? assert.fail("there is no attempt"),
    )
    assertPending(purchase, first)
    const before = yield* due
    for (const _ of [1, 2, 3]) assertPending(purchase, yield* reconcile(purchase))
    const after = yield* due
    assert.strictEqual(after.checks, before.checks + 3)
    assert.deepStrictEqual([after.at, bank.taken()], [before.at, []])
    yield* trap.release
    yield* Effect.sync(bank.taken).pipe(until("nothing was ever taken", (taken) => taken.length > 0))
    assert.strictEqual((yield* storedAnswer(purchase)).status, 200)
    yield* assertSettled(purchase)
  })

  byCard("says that the bank is still working, is read by the charge's own id until the bank is done", function* () {
    const { url } = yield* TestServer
    const bank = yield* Processor
    const purchase = yield* prepareByCard(url, "pm_bank_slow")
    assertPending(purchase, yield* send(purchase))
    assertPending(purchase, yield* reconcile(purchase))
    assert.strictEqual(bank.requests().charges, 1)
    yield* bank.finish
    assert.strictEqual((yield* storedAnswer(purchase)).status, 200)
    yield* assertSettled(purchase)
  })
})

describe.concurrent("a charge that was not made, because the processor", () => {
  byCard("stores its server error under the key, stays open until no charge is certain, then frees all", function* () {
    const sql = yield* SqlClient.SqlClient
    const { bank, first, purchase } = yield* suffer("mistakeBefore")
    const hoursPass = (hours: number) =>
      sql`UPDATE payment_attempts SET accepted_at = accepted_at - make_interval(hours => ${hours}::int)`
    assertPending(purchase, first)
    yield* bank.calm
    assertPending(purchase, yield* reconcile(purchase))
    yield* hoursPass(20)
    const { charges } = bank.requests()
    assertPending(purchase, yield* reconcile(purchase))
    yield* hoursPass(4)
    assertPending(purchase, yield* reconcile(purchase))
    yield* afterNextSweep(purchase)
    yield* reconcile(purchase)
    assert.strictEqual(bank.requests().charges, charges, "after twelve hours it is not asked for again")
    const failed = { state: "failed", reason: "card_never_charged", taken: 0, acts: 0, candles: 0, claims: 1 }
    assert.deepInclude(yield* cardBooks(purchase), failed)
    for (const answer of [yield* send(purchase), yield* reconcile(purchase)])
      assertAnswer(answer, 402, "payment_failed", "card_never_charged")
    assert.deepStrictEqual(bank.taken(), [])
  })
})

describe.concurrent("a request that fails validation, whose key the processor does not store,", () => {
  byCardPatiently("is charged and reported once when it passes for one server while another gives up", function* () {
    const { url } = yield* TestServer
    const sql = yield* SqlClient.SqlClient
    const bank = yield* Processor
    const cards = { cards: cardsOf(bank), patience: Duration.seconds(20), sweepEvery: Duration.hours(1) }
    // It sweeps as it starts, so it starts before there is an attempt.
    const other = yield* anotherServer(cards)
    const purchase = yield* prepareByCard(url)
    const there = { ...purchase, server: other }
    yield* bank.arm("invalidBefore").release
    assertPending(purchase, yield* send(purchase))

    yield* afterNextSweep(purchase)
    const refusal = bank.arm("invalidBefore")
    const one = yield* Effect.forkScoped(reconcile(purchase))
    yield* refusal.arrived
    const charge = bank.arm("holdAfter")
    const second = yield* Effect.forkScoped(reconcile(there))
    yield* charge.arrived
    yield* refusal.release
    assert.strictEqual((yield* Fiber.join(one)).json["reason"], "shared_payment_token_in_use")
    yield* charge.release
    const told = yield* Fiber.join(second)
    assertAnswer(told, 402, "payment_failed")
    const sentence = /^This card was charged after .* payment intent pi_\S+ .* Do not pay again/u
    assert.match(String(told.json["message"]), sentence)
    assert.deepInclude(yield* cardBooks(purchase), { state: "failed", taken: 1, acts: 0, claims: 1 })
    const unmatched = sql`SELECT network, amount_atomic::text AS amount, transaction LIKE 'pi\_%' AS "isIntent"
    FROM unmatched_payments`
    assert.deepStrictEqual(yield* unmatched, [{ network: null, amount: "3000000", isIntent: true }])
  })
})
