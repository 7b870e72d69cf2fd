/** Gas that a wallet has cost is counted once for each broadcast, however many servers see it in its block. */
import { randomBytes } from "node:crypto"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import { Broadcasts } from "../../src/payments/ledger/Broadcasts.ts"
import { Claim } from "../../src/payments/ledger/Claim.ts"
import { Lookup } from "../../src/payments/ledger/Lookup.ts"
import { type Loss, Refusals } from "../../src/payments/ledger/Refusals.ts"
import { usdc } from "../../src/payments/PaymentTerms.ts"
import { database, sql as ownSql } from "../support/Database.ts"

const network = "eip155:84532"
const newHex = (bytes: number): `0x${string}` => `0x${randomBytes(bytes).toString("hex")}`
const newName = () => `losses-${randomBytes(8).toString("hex")}`

/** A payment of the wallet that was broadcast, as it is judged when its block did not pay. */
const lost = Effect.fnUntraced(function* (wallet: `0x${string}`, gas: bigint) {
  const { claim } = yield* Claim
  const { note } = yield* Broadcasts
  const outcome = yield* claim({
    idempotencyKey: newName(),
    fingerprint: newName(),
    act: "setWitnessStone",
    url: "https://altar.example/api/witness",
    input: {},
    amountAtomic: 10_000n,
    payment: {
      rail: "x402",
      network,
      authorization: {
        asset: usdc[network].asset,
        from: wallet,
        to: newHex(20),
        value: 10_000n,
        validAfter: 0n,
        validBefore: BigInt(Math.floor(Date.now() / 1000) + 300),
        nonce: newHex(32),
        signature: newHex(65),
      },
      fromBlock: 7n,
      transaction: Option.none(),
    },
    payload: "{}",
    claims: { slots: [] },
    balance: { balanceAtomic: 1_000_000n, asOfMillis: Date.now(), isExact: false, isContract: false },
    acceptedAtMillis: Date.now(),
    leaseMillis: 60_000,
  })
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
