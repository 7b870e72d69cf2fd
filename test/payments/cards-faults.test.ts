/** For every answer or silence of the card processor, a request is answered 202 until there is evidence, and charged once. */
import { Duration, Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import type { CardFault } from "../lab/proxy/CardProcessor.ts"
import { books, carded, type CardPurchase, cardsOf, prepare, Processor, reconcile, send } from "../lab/buyer/Cards.ts"
import { afterNextSweep, storedAnswer } from "../lab/buyer/Purchase.ts"
import { type Answer, TestServer } from "../lab/Fixture.ts"
import { until } from "../lab/Eventually.ts"
import { anotherServer } from "../lab/server/AnotherServer.ts"
import { apart, assert, assertAnswer } from "../lab/Suites.ts"

const assertPending = ({ key, url }: CardPurchase, answer: Answer) => {
  assertAnswer(answer, 202, "settlement_pending")
  assert.strictEqual(answer.headers.get("location"), `${new URL(url).origin}/api/reconcile/${key}`)
  assert.match(String(answer.json["message"]), /Do not pay again/u)
  assert.isNull(answer.headers.get("payment-response"))
  assert.deepInclude(answer.json["attempt"], { network: null, validBefore: null, amountAtomic: "3000000" })
}

/** One charge, one candle, the same bytes to everybody, and all of it under one idempotency key. */
const assertSettled = Effect.fnUntraced(function* (purchase: CardPurchase) {
  const bank = yield* Processor
  assert.deepInclude(yield* books(purchase), { state: "settled", taken: 1, acts: 1, candles: 1 })
  const [again, reconciled] = [yield* send(purchase), yield* reconcile(purchase)]
  assert.deepStrictEqual([again.status, reconciled.status, again.text], [200, 200, reconciled.text])
  assert.isNotNull(reconciled.headers.get("payment-receipt"))
  assert.deepStrictEqual([bank.asked().keys, bank.taken().length], [1, 1])
})

const assertFailed = Effect.fnUntraced(function* (purchase: CardPurchase, reason: string) {
  const bank = yield* Processor
  assert.deepInclude(yield* books(purchase), { state: "failed", reason, taken: 0, acts: 0, candles: 0, claims: 0 })
  for (const answer of [yield* send(purchase), yield* reconcile(purchase)])
    assertAnswer(answer, 402, "payment_failed", reason)
  assert.deepStrictEqual(bank.taken(), [])
})

/** How it ended: on a slow day the processor still answers what was asked before it was calm. */
const ended = (purchase: CardPurchase) => storedAnswer(new URL(purchase.url).origin, purchase)

/** The attempt was accepted so many hours earlier than it was. */
const hoursPass = Effect.fnUntraced(function* ({ key }: CardPurchase, hours: number) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`UPDATE payment_attempts SET accepted_at = accepted_at - make_interval(hours => ${hours}::int)
    WHERE idempotency_key = ${key}`
})

/** Waits until the processor took money. */
const taking = Effect.flatMap(Processor, (bank) =>
  Effect.sync(bank.taken).pipe(until("nothing was ever taken", (taken) => taken.length > 0)),
)

const suffer = Effect.fnUntraced(function* (fault: CardFault, paymentMethod?: string) {
  const { url } = yield* TestServer
  const bank = yield* Processor
  const purchase = yield* prepare(url, paymentMethod)
  const trap = bank.arm(fault)
  return { bank, purchase, trap, first: yield* send(purchase) }
})

apart("a charge that the processor made, but whose response", carded(), (it) => {
  const faults: ReadonlyArray<readonly [what: string, fault: CardFault]> = [
    ["never arrives", "holdAfter"],
    ["is cut off", "dropAfter"],
    ["is garbage", "nonsenseAfter"],
    ["is about another charge", "foreignAfter"],
  ]
  for (const [what, fault] of faults) {
    it(`${what}, is found under its idempotency key`, function* () {
      const { bank, first, purchase } = yield* suffer(fault)
      assertPending(purchase, first)
      assert.strictEqual(bank.taken().length, 1)
      yield* bank.calm
      const answer = yield* ended(purchase)
      assert.strictEqual(answer.status, 200, answer.text)
      yield* assertSettled(purchase)
    })
  }

  it("is the processor's own server error, is found by the attempt's id", function* () {
    const { bank, first, purchase } = yield* suffer("mistakeAfter")
    assert.strictEqual(first.status, 201, first.text)
    assert.strictEqual(bank.asked().searches, 1)
    yield* assertSettled(purchase)
  })

  it("never arrives, is found by the attempt's id after its key expired, and is not requested again", function* () {
    const { bank, purchase } = yield* suffer("dropAfter")
    yield* bank.calm
    yield* bank.forget
    yield* hoursPass(purchase, 25)
    const { charges } = bank.asked()
    const answer = yield* reconcile(purchase)
    assert.strictEqual(answer.status, 200, answer.text)
    assert.strictEqual(bank.asked().charges, charges)
    yield* assertSettled(purchase)
  })

  // I13
  it("says that it is in progress, is swept on schedule, however often its client asks", function* ({ sql }) {
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
    yield* taking
    assert.strictEqual((yield* ended(purchase)).status, 200)
    yield* assertSettled(purchase)
  })

  it("was a refusal and was cut off, is read later as the same refusal", function* () {
    const { bank, first, purchase } = yield* suffer("dropAfter", "pm_card_visa_chargeDeclined")
    assertPending(purchase, first)
    yield* bank.calm
    assert.strictEqual((yield* reconcile(purchase)).json["reason"], "generic_decline")
    yield* assertFailed(purchase, "generic_decline")
  })

  it("says that the bank is still working, is read by the charge's own id until the bank is done", function* ({ url }) {
    const bank = yield* Processor
    const purchase = yield* prepare(url, "pm_bank_slow")
    assertPending(purchase, yield* send(purchase))
    assertPending(purchase, yield* reconcile(purchase))
    assert.strictEqual(bank.asked().charges, 1)
    yield* bank.finish
    assert.strictEqual((yield* ended(purchase)).status, 200)
    yield* assertSettled(purchase)
  })
})

apart("a charge that was not made, because the processor", carded(), (it) => {
  const faults: ReadonlyArray<readonly [what: string, fault: CardFault]> = [
    ["disconnected", "dropBefore"],
    ["was behind a broken gateway", "status503Before"],
    ["returned garbage", "nonsenseBefore"],
    ["redirected us", "redirectBefore"],
    ["no longer knew our secret key", "unauthorizedBefore"],
    ["limited our requests", "rateLimitBefore"],
  ]
  for (const [what, fault] of faults) {
    it(`${what}, is made later under the same key`, function* () {
      const { bank, first, purchase } = yield* suffer(fault)
      assertPending(purchase, first)
      assertPending(purchase, yield* send(purchase))
      assert.deepStrictEqual([bank.taken().length, bank.elsewhere()], [0, 0])
      yield* bank.calm
      assert.strictEqual((yield* ended(purchase)).status, 200)
      yield* assertSettled(purchase)
    })
  }

  it("held the request back, happens once when the request is released", function* () {
    const { bank, first, purchase, trap } = yield* suffer("holdBefore")
    assertPending(purchase, first)
    const asked = yield* Effect.forkScoped(reconcile(purchase))
    yield* trap.release
    yield* taking
    yield* Fiber.join(asked)
    yield* bank.calm
    assert.strictEqual((yield* reconcile(purchase)).status, 200)
    yield* assertSettled(purchase)
  })

  it("stores its server error under the key, stays open until no charge is certain, and then frees everything", function* () {
    const { bank, first, purchase } = yield* suffer("mistakeBefore")
    assertPending(purchase, first)
    yield* bank.calm
    assertPending(purchase, yield* reconcile(purchase))
    yield* hoursPass(purchase, 20)
    const { charges } = bank.asked()
    assertPending(purchase, yield* reconcile(purchase))
    yield* hoursPass(purchase, 4)
    assertPending(purchase, yield* reconcile(purchase))
    yield* afterNextSweep(purchase)
    assert.strictEqual((yield* reconcile(purchase)).json["reason"], "card_never_charged")
    assert.strictEqual(bank.asked().charges, charges, "after twelve hours it is not asked for again")
    yield* assertFailed(purchase, "card_never_charged")
  })

  it("refuses the token, ends when a sweep later the processor still refuses it", function* ({ url }) {
    const bank = yield* Processor
    const purchase = yield* prepare(url)
    yield* bank.revoke
    assertPending(purchase, yield* send(purchase))
    assertPending(purchase, yield* reconcile(purchase))
    yield* afterNextSweep(purchase)
    assert.strictEqual((yield* reconcile(purchase)).json["reason"], "resource_missing")
    yield* assertFailed(purchase, "resource_missing")
  })
})

apart("a request that fails validation, whose key the processor does not store,", carded(), (it) => {
  /** Sent, and refused for now. */
  const refused = Effect.gen(function* () {
    const { url } = yield* TestServer
    const bank = yield* Processor
    const purchase = yield* prepare(url)
    yield* bank.arm("invalidBefore").release
    assertPending(purchase, yield* send(purchase))
    return { bank, purchase, url }
  })

  it("is charged once when the same request passes a moment later", function* () {
    const { bank, purchase } = yield* refused
    yield* bank.calm
    assert.strictEqual((yield* reconcile(purchase)).status, 200)
    yield* assertSettled(purchase)
  })

  // I6
  it.on(carded("20 seconds"))(
    "is charged and reported to the operator once, when it passes for one server while another gives up",
    function* ({ sql }) {
      const { bank, purchase, url } = yield* refused
      const cards = { cards: cardsOf(bank), patience: Duration.seconds(20), sweepEvery: Duration.hours(1) }
      const there = { ...purchase, url: purchase.url.replace(url, yield* anotherServer(cards)) }

      yield* afterNextSweep(purchase)
      const refusal = bank.arm("invalidBefore")
      const one = yield* Effect.forkScoped(reconcile(purchase))
      yield* refusal.arrived
      const charge = bank.arm("holdAfter")
      const other = yield* Effect.forkScoped(reconcile(there))
      yield* charge.arrived
      yield* refusal.release
      assert.strictEqual((yield* Fiber.join(one)).json["reason"], "shared_payment_token_in_use")
      yield* charge.release
      const told = yield* Fiber.join(other)
      assertAnswer(told, 402, "payment_failed")
      assert.match(
        String(told.json["message"]),
        /^This card was charged after .* payment intent pi_\S+ .* Do not pay again/u,
      )
      assert.deepInclude(yield* books(purchase), { state: "failed", taken: 1, acts: 0, claims: 0 })
      const strays = sql`SELECT network, amount_atomic::text AS amount, transaction LIKE 'pi\_%' AS "isIntent"
        FROM payment_strays`
      assert.deepStrictEqual(yield* strays, [{ network: "card", amount: "3000000", isIntent: true }])
    },
  )
})
