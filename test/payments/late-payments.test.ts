/** A payment that failed as its wallet could not make it, and what becomes of its authorization when that can pay again. */
import { Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import { LocalChain } from "../../src/sandbox/LocalChain.ts"
import * as QueuedPayments from "../lab/buyer/QueuedPayments.ts"
import * as Purchase from "../lab/buyer/Purchase.ts"
import { proxiedServer } from "../lab/server/ProxiedServer.ts"
import { broadcast, empty } from "../lab/buyer/ThirdParty.ts"
import { newKey, TestServer } from "../lab/Fixture.ts"
import { signedFixture } from "../lab/buyer/PaymentFixture.ts"
import { apart, assert } from "../lab/Suites.ts"

const server = proxiedServer("relayer", "20 seconds", "300 millis")

const fund = ({ payer }: Purchase.Purchase) =>
  Effect.flatMap(LocalChain, (chain) => chain.fund(payer.address, 10n * Purchase.price))

/** A payment whose broadcast is in a block, after all of its wallet's money has left. */
const emptied = Effect.gen(function* () {
  const { purchase, rpc, url } = yield* signedFixture
  const trap = rpc.arm("eth_sendRawTransaction", "holdBefore", (params) => params.includes(purchase.nonce.slice(2)))
  const bought = yield* Purchase.sendInto(trap, url, purchase)
  yield* empty(purchase.payer)
  yield* trap.release
  Purchase.assertPending(url, purchase, yield* Fiber.join(bought))
  return purchase
})

const strays = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql<{ transaction: string }>`SELECT transaction FROM payment_strays`,
).pipe(Effect.orDie)

/** The next sweep looks at what failed. */
const due = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql`UPDATE payment_attempts SET next_check_at = now() WHERE state = 'failed' AND is_alive RETURNING id`,
)

const failed = Effect.gen(function* () {
  const { url } = yield* TestServer
  const purchase = yield* emptied
  yield* Purchase.mine(3)
  assert.deepStrictEqual(Purchase.reasonIn(yield* Purchase.storedAnswer(url, purchase)), [
    402,
    "payment_failed",
    "wallet_could_not_pay",
  ])
  return purchase
})

apart("a late payment for a failed attempt", server, (it) => {
  // I16
  it("is recorded once it is final, told to its buyer, and buys once under a new key", function* ({ url }) {
    const purchase = yield* failed
    yield* fund(purchase)
    const transaction = yield* broadcast(purchase)
    yield* due
    // Its block is not final: it may be orphaned, and the payment with it.
    const [looked] = yield* QueuedPayments.eventually(
      "looked at",
      Effect.flatMap(
        SqlClient.SqlClient,
        (sql) => sql`SELECT id FROM payment_attempts WHERE state = 'failed' AND is_alive AND next_check_at > now()`,
      ),
      (rows) => rows.length > 0,
    )
    assert.isDefined(looked)
    yield* Purchase.mine(3)
    yield* due
    yield* QueuedPayments.eventually("noted", strays, (rows) => rows.length > 0)
    assert.deepStrictEqual(yield* strays, [{ transaction }])
    const told = yield* Purchase.reconcile(url, purchase)
    assert.strictEqual(told.status, 402)
    assert.include(String(told.json["message"]), `transaction ${transaction} paid us and is recorded for the operator`)

    // The same payment under a new key has what it paid for.
    const key = newKey()
    const again = { ...purchase, key, headers: { ...purchase.headers, "idempotency-key": key } }
    const bought = yield* Purchase.send(url, again)
    assert.strictEqual(bought.status, 201, bought.text)
    assert.deepStrictEqual(yield* strays, [])
    assert.deepInclude(yield* Purchase.books(again), {
      state: "settled",
      charged: 1,
      acts: 1,
      stones: 1,
      transaction,
    })
    assert.deepInclude(yield* Purchase.attemptOf(purchase), { state: "failed", acts: 0, stones: 0, claims: 0 })
    yield* Purchase.audit(url)
    yield* due
    yield* QueuedPayments.eventually("let go", due, (rows) => rows.length === 0)
    assert.deepStrictEqual(yield* strays, [])
  })

  it("is searched for until its authorization expires, and no longer", function* () {
    yield* failed
    assert.lengthOf(yield* due, 1)
    yield* Purchase.passExpiry
    yield* QueuedPayments.eventually("let go", due, (rows) => rows.length === 0)
    assert.deepStrictEqual(yield* strays, [])
  })
})
