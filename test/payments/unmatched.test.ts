/** Transfers to us that settled no act: each is recorded once, with the attempt that it belongs to, if any. */
import { assert, describe, layer } from "../lab/It.ts"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { Hex } from "viem"
import { transferTopic } from "../../src/payments/x402/chain/Eip3009.ts"
import { UnmatchedPayments } from "../../src/payments/store/Unmatched.ts"
import { onServer } from "../lab/server/Live.ts"
import { database, sql as databaseSql } from "../lab/Database.ts"
import * as Purchase from "../lab/buyer/Purchase.ts"
import * as ThirdParty from "../lab/buyer/ThirdParty.ts"
import { until } from "../lab/Eventually.ts"
import { onChain } from "../lab/Chain.ts"
import { payment, scene } from "../lab/ScriptedChain.ts"
import { proxiedServer } from "../lab/server/ProxiedServer.ts"
import { authorization, word } from "../lab/TransferLogs.ts"
import { assertAnswer } from "../lab/Assertions.ts"
import { realClock } from "../lab/TestServices.ts"
import { signedFixture } from "../lab/buyer/PaymentFixture.ts"

const test = onServer(proxiedServer("facilitator", "20 seconds", "300 millis"))

const recorded = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql<{ readonly transaction: Hex; readonly amount: string; readonly key: string | null }>`
    SELECT s.transaction, s.amount_atomic::text AS amount, a.idempotency_key AS key
    FROM unmatched_payments s LEFT JOIN payment_attempts a ON a.id = s.attempt ORDER BY s.recorded_at`,
).pipe(Effect.orDie)

const isRecorded = recorded.pipe(until("nothing is recorded", (rows) => rows.length > 0))

describe.concurrent("a transfer to us that settled no act", () => {
  test("in another amount under the nonce of an attempt is that attempt's, which fails", function* () {
    const { facilitator, purchase } = yield* signedFixture
    facilitator.arm("nonsenseBefore")
    Purchase.assertPending(purchase, yield* Purchase.send(purchase))
    const transaction = yield* ThirdParty.spend(purchase, { value: 7n })
    yield* Purchase.mine(4)
    assert.deepStrictEqual(yield* isRecorded, [{ transaction, amount: "7", key: purchase.key }])
    const answer = yield* Purchase.storedAnswer(purchase)
    assert.deepStrictEqual(Purchase.reasonIn(answer), [402, "payment_failed", "authorization_spent_elsewhere"])
    assert.include(String(answer.json["message"]), transaction)
  })

  test("in a block with more logs than the node answers with is recorded by the inquiry that finds it", function* () {
    const { facilitator, purchase, rpc } = yield* signedFixture
    facilitator.arm("nonsenseBefore")
    Purchase.assertPending(purchase, yield* Purchase.send(purchase))
    rpc.behave((method, _, params) =>
      method === "eth_getLogs" && params.includes(transferTopic) ? { logsAtMost: 0 } : {},
    )
    const transaction = yield* ThirdParty.spend(purchase, { value: 7n })
    yield* Purchase.passExpiry
    const answer = yield* Purchase.storedAnswer(purchase)
    assert.deepStrictEqual(Purchase.reasonIn(answer), [402, "payment_failed", "authorization_spent_elsewhere"])
    const message = String(answer.json["message"])
    assert.include(message, `transaction ${transaction} paid us and is recorded for the operator`)
    assert.deepStrictEqual(yield* recorded, [{ transaction, amount: "7", key: purchase.key }])
  })

  test("of a payment that was refused and submitted later is recorded without an attempt", function* () {
    const purchase = yield* Purchase.prepare({ funds: 0n })
    assertAnswer(yield* Purchase.send(purchase), 402, "payment_invalid")
    yield* Effect.flatMap(
      onChain(async (_, chain) => chain),
      (chain) => chain.fund(purchase.payer.address, Purchase.price),
    )
    const transaction = yield* ThirdParty.broadcast(purchase)
    yield* Purchase.mine(4)
    const row = { transaction, amount: String(Purchase.price), key: null }
    assert.deepStrictEqual(yield* isRecorded, [row])
    assert.deepStrictEqual(yield* recorded, [row], "once")
  })

  test("is none of the operator's business once an act was settled by it", function* () {
    const { purchase } = yield* signedFixture
    assert.strictEqual((yield* Purchase.send(purchase)).status, 201)
    yield* Purchase.mine(4)
    const sql = yield* SqlClient.SqlClient
    yield* sql`SELECT name FROM chain_transfers WHERE is_judged`.pipe(
      Effect.orDie,
      until("it is not judged", (rows) => rows.length > 0),
    )
    assert.deepStrictEqual(yield* recorded, [])
  })
})

const rows = Layer.provideMerge(UnmatchedPayments.layer, Layer.provideMerge(databaseSql, database))

layer(rows, realClock)("the ceiling of unmatched payments", (it) => {
  it.effect("keeps 10,000 of unknown buyers below the lowest price, and all others", function* () {
    const sql = yield* SqlClient.SqlClient
    yield* sql`
      INSERT INTO unmatched_payments (name, network, asset, payer, nonce, amount_atomic, valid_before, transaction, recorded_at)
      SELECT 'dust ' || n, 'eip155:1', '', '', '', 1, 0, '', now() - interval '1 day' FROM generate_series(1, 9999) AS n`
    const { chain, scan } = yield* scene()
    const { judge } = yield* UnmatchedPayments
    yield* scan
    yield* sql`UPDATE unmatched_payments SET amount_atomic = 10000 WHERE name = 'dust 1'`
    for (const [one, amount] of [1n, 1n, 1n, 10_000n].entries()) {
      chain.block(payment(one + 1, one + 1, amount))
      chain.empty(6)
      yield* scan
      yield* judge(600)
    }
    const count = sql<{ readonly n: number }>`SELECT count(*)::int AS n FROM unmatched_payments`
    assert.deepStrictEqual(yield* count, [{ n: 10_002 }])
    const left = sql`SELECT name FROM chain_transfers WHERE NOT is_judged`
    assert.deepStrictEqual(yield* left, [])
    const { recordTransfer } = yield* UnmatchedPayments
    for (const [index, amount] of [1n, 10_000n].entries())
      yield* recordTransfer(
        {
          network: "eip155:1",
          authorization: { ...authorization, validBefore: 2n ** 40n, nonce: word(String(index)) },
        },
        { amount, transaction: word("3") },
      )
    assert.deepStrictEqual(yield* count, [{ n: 10_003 }], "the same holds of those that the scan lacks")
    const over = sql`SELECT valid_before <= extract(epoch FROM now()) + 1 AS "mayBeReturned" FROM unmatched_payments
        WHERE transaction = ${word("3")}`
    assert.deepStrictEqual(yield* over, [{ mayBeReturned: true }], "it can buy nothing any more")
  })
})
