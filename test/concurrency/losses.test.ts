/** Gas that a wallet has cost is counted once for each broadcast, however many servers see it in its block. */
import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import { Broadcasts } from "../../src/payments/ledger/Broadcasts.ts"
import { Claim } from "../../src/payments/ledger/Claim.ts"
import { Lookup } from "../../src/payments/ledger/Lookup.ts"
import { type Loss, Refusals } from "../../src/payments/ledger/Refusals.ts"
import { database, sql as ownSql } from "../support/Database.ts"
import { newHex, newIntent, newPayment } from "../support/Intents.ts"

/** A payment of the wallet that was broadcast, as it is judged when its block did not pay. */
const lost = Effect.fnUntraced(function* (wallet: `0x${string}`, gas: bigint) {
  const { claim } = yield* Claim
  const { note } = yield* Broadcasts
  const balance = { balanceAtomic: 1_000_000n, asOfMillis: Date.now(), isExact: false, isContract: false }
  const outcome = yield* claim(newIntent({ payment: newPayment({ from: wallet }), balance }))
  if (outcome._tag !== "Claimed") return yield* Effect.die(`not claimed: ${outcome._tag}`)
  const { id } = outcome.attempt
  const hash = newHex(32)
  const passengers = [{ attempt: id, state: "pending" as const, previous: Option.none() }]
  yield* note(passengers, { nonce: 1, hash, maxFeePerGas: 1n, atMillis: Date.now(), members: 1 })
  return { attempt: id, hash, wallet, reason: "wallet_did_not_pay", gas } satisfies Loss
})

/** One server's part, with connections of its own. */
const server = Layer.fresh(
  Layer.mergeAll(Claim.layer.pipe(Layer.provide(Lookup.layer)), Broadcasts.layer, Refusals.layer).pipe(
    Layer.provide(Layer.fresh(ownSql)),
  ),
)

layer(server.pipe(Layer.provideMerge(ownSql), Layer.provideMerge(database)), { excludeTestServices: true })(
  "what a wallet has cost",
  (it) => {
    it.effect("counts each broadcast once, whichever servers judge it at the same time", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const wallet = newHex(20)
        const first = yield* lost(wallet, 70_000n)
        const second = yield* lost(wallet, 5_000n)
        const there = yield* Layer.build(server)
        const judgeAll = Effect.fnUntraced(function* (loss: Loss) {
          const { refuse } = yield* Refusals
          yield* Effect.forEach(Array.from({ length: 4 }), () => refuse(loss), {
            concurrency: "unbounded",
            discard: true,
          })
        })
        const judge = (loss: Loss) =>
          Effect.all([judgeAll(loss), Effect.provideContext(judgeAll(loss), there)], { concurrency: "unbounded" })
        const gas = Effect.map(
          sql`SELECT lost_gas::int AS gas FROM payment_payers WHERE name = ${wallet}`,
          ([row]) => row?.["gas"],
        )
        yield* judge(first)
        assert.strictEqual(yield* gas, 70_000)
        yield* judge(second)
        assert.strictEqual(yield* gas, 75_000, "what is lost while it is refused adds up")
        // Its hour is over, and what was counted stays so.
        yield* sql`UPDATE payment_payers SET refused_until = now() - interval '1 second' WHERE name = ${wallet}`
        yield* judge(first)
        const { refused } = yield* Effect.flatMap(Refusals, ({ of }) => of(first.attempt, wallet))
        assert.isTrue(Option.isNone(refused), "a loss that was counted refuses nobody again")
        assert.strictEqual(yield* gas, 75_000)
        const third = yield* lost(wallet, 3_000n)
        yield* judge(third)
        assert.strictEqual(yield* gas, 3_000, "a new refusal begins to count anew")
      }).pipe(Effect.scoped),
    )
  },
)
