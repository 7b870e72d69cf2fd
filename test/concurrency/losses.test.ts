/** Gas that a wallet has cost is counted once for each broadcast, however many servers see it in its block. */
import { type Context, Effect, Layer, Option } from "effect"
import { Broadcasts } from "../../src/payments/ledger/Broadcasts.ts"
import { Claim } from "../../src/payments/ledger/Claim.ts"
import { Lookup } from "../../src/payments/ledger/Lookup.ts"
import { type GasLoss, Refusals } from "../../src/payments/ledger/Refusals.ts"
import { database, sql as ownSql } from "../lab/Database.ts"
import { newHex, newIntent, newPayment } from "../lab/Intents.ts"
import { assert, suite } from "../lab/Suites.ts"

const reason = "wallet_did_not_pay"

/** Payments of these wallets that were broadcast together, as they are judged when their block did not pay; each lost so much. */
const lost = Effect.fnUntraced(function* (wallets: ReadonlyArray<`0x${string}`>, gas: bigint) {
  const { claim } = yield* Claim
  const { note } = yield* Broadcasts
  const balance = { balanceAtomic: 1_000_000n, asOfMillis: Date.now(), isExact: false, isContract: false }
  const losses = yield* Effect.forEach(
    wallets,
    Effect.fnUntraced(function* (wallet) {
      const outcome = yield* claim(newIntent({ payment: newPayment({ from: wallet }), balance }))
      if (outcome._tag !== "Claimed") return yield* Effect.die(`not claimed: ${outcome._tag}`)
      return { attempt: outcome.attempt.id, wallet, reason, gas } satisfies GasLoss
    }),
  )
  const hash = newHex(32)
  const passengers = losses.map(({ attempt }) => ({ attempt, state: "pending" as const, previous: Option.none() }))
  yield* note(passengers, { nonce: 1, hash, maxFeePerGas: 1n, atMillis: Date.now(), members: losses.length })
  return { hash, losses }
})

/** One server's part, with connections of its own. */
const server = Layer.fresh(
  Layer.mergeAll(Claim.layer.pipe(Layer.provide(Lookup.layer)), Broadcasts.layer, Refusals.layer).pipe(
    Layer.provide(Layer.fresh(ownSql)),
  ),
)

/** Judged four times at the same time by each of two servers. */
const judgeOn =
  (there: Context.Context<Refusals>) =>
  ({ hash, losses }: { readonly hash: `0x${string}`; readonly losses: ReadonlyArray<GasLoss> }) => {
    const judgeAll = Effect.flatMap(Refusals, ({ refuse }) =>
      Effect.forEach(Array.from({ length: 4 }), () => refuse(hash, losses), {
        concurrency: "unbounded",
        discard: true,
      }),
    )
    return Effect.all([judgeAll, Effect.provideContext(judgeAll, there)], { concurrency: "unbounded" })
  }

suite("the gas loss of a wallet", server.pipe(Layer.provideMerge(ownSql), Layer.provideMerge(database)), (it) => {
  it("counts each broadcast once, whichever servers judge it at the same time", function* ({ sql }) {
    const wallet = newHex(20)
    const first = yield* lost([wallet], 70_000n)
    const second = yield* lost([wallet], 5_000n)
    const there = yield* Layer.build(server)
    const judge = judgeOn(there)
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
    const { refused } = yield* Effect.flatMap(Refusals, ({ of }) => of(first.losses[0]?.attempt ?? "", wallet))
    assert.isTrue(Option.isNone(refused), "a loss that was counted refuses nobody again")
    assert.strictEqual(yield* gas, 75_000)
    yield* sql`UPDATE payment_attempts SET state = 'failed' WHERE payer = ${wallet}`
    const third = yield* lost([wallet], 3_000n)
    yield* judge(third)
    assert.strictEqual(yield* gas, 3_000, "a new refusal begins to count anew")
  })

  it("of one transaction is shared among the wallets that caused it, and counted once", function* ({ sql }) {
    const [twice, once, later] = [newHex(20), newHex(20), newHex(20)]
    const { hash, losses } = yield* lost([twice, once, twice, later], 900_000n)
    const there = yield* Layer.build(server)
    const counted = sql`
          SELECT name, lost_gas::int AS gas, refused_until > now() AS refused FROM payment_payers
          WHERE name IN (${twice}, ${once}, ${later})`
    const gasOf = (wallet: string) =>
      Effect.map(counted, (rows) => {
        const row = rows.find(({ name }) => name === wallet)
        return [row?.["gas"], row?.["refused"]]
      })
    yield* judgeOn(there)({ hash, losses: losses.filter(({ wallet }) => wallet !== later) })
    assert.deepStrictEqual(yield* gasOf(twice), [1_800_000, true])
    assert.deepStrictEqual(yield* gasOf(once), [900_000, true])
    yield* judgeOn(there)({ hash, losses })
    assert.deepStrictEqual(yield* gasOf(later), [0, true], "what is counted is not counted again")
    assert.deepStrictEqual(yield* gasOf(twice), [1_800_000, true])
  })
})
