/** Payments that come while the relayer is busy, so that they travel together once it is free. */
import { assert } from "@effect/vitest"
import { Effect, Fiber, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { parseGwei } from "viem"
import { privateKeyToAccount } from "viem/accounts"
import { multicall3 } from "../../../schema/payments/Usdc.ts"
import { LocalChain } from "../../../src/sandbox/LocalChain.ts"
import { eventually } from "../Eventually.ts"
import * as Purchase from "./Purchase.ts"
import { Proxies } from "../TestServices.ts"
import { ask } from "../Fixture.ts"

export { eventually } from "../Eventually.ts"

/** Its address. */
export const relayer = Effect.map(
  LocalChain,
  ({ relayerKey }) => privateKeyToAccount(Redacted.value(relayerKey)).address,
)

/** How many transactions of the relayer are in blocks. */
export const relayed = Effect.flatMap(relayer, (address) =>
  Purchase.onChain((client) => client.getTransactionCount({ address })),
)

/** The relayer's transactions so far, with how many of these payments each was made for. */
export const sentFor = Effect.fnUntraced(function* (purchases: ReadonlyArray<Pick<Purchase.Purchase, "nonce">>) {
  const from = yield* relayer
  return yield* Purchase.onChain(async (client) => {
    const newest = await client.getBlockNumber()
    const blocks = await Promise.all(
      Array.from({ length: Number(newest) + 1 }, (_, index) =>
        client.getBlock({ blockNumber: BigInt(index), includeTransactions: true }),
      ),
    )
    return blocks
      .flatMap(({ transactions }) => transactions)
      .filter((one) => one.from.toLowerCase() === from.toLowerCase())
      .map((one) => ({
        hash: one.hash,
        isGroup: one.to?.toLowerCase() === multicall3.toLowerCase(),
        payments: purchases.filter(({ nonce }) => one.input.includes(nonce.slice(2))).length,
      }))
  })
})

/** The gas of the relayer's transactions for these payments. */
export const gasOf = Effect.fnUntraced(function* (purchases: ReadonlyArray<Pick<Purchase.Purchase, "nonce">>) {
  const sent = yield* sentFor(purchases)
  const groups = sent.filter(({ payments }) => payments > 0)
  return yield* Purchase.onChain(async (client) => {
    const receipts = await Promise.all(groups.map(({ hash }) => client.getTransactionReceipt({ hash })))
    return Number(receipts.reduce((sum, { gasUsed }) => sum + gasUsed, 0n))
  })
})

const pending = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql<{ n: number }>`SELECT count(*)::int AS n FROM payment_attempts WHERE state = 'pending'`,
).pipe(
  Effect.map((rows) => rows[0]?.n ?? 0),
  Effect.orDie,
)

/** So many payments of wallets that hold no more. */
export const prepareMany = (url: string, count: number) =>
  Effect.forEach(Array.from({ length: count }), () => Purchase.prepare(url, Purchase.price), { concurrency: 5 })

/** The same: the first, and those that travel together after it. */
export const prepareGroup = (url: string, count: number) =>
  Effect.map(prepareMany(url, count), ([first, ...others]) => ({
    first: first ?? assert.fail("nothing was prepared"),
    others,
  }))

/** From now on a block costs more than was offered. */
export const raiseFees = Purchase.onChain(async (client) => {
  await client.setNextBlockBaseFeePerGas({ baseFeePerGas: parseGwei("500") })
  await client.mine({ blocks: 1 })
  await client.setAutomine(true)
})

/** Sends a first payment, catches its broadcast, and sends the others during it; they wait until `letGo`. */
export const gather = Effect.fnUntraced(function* (
  url: string,
  first: Purchase.Purchase,
  others: ReadonlyArray<Purchase.Purchase>,
) {
  const { rpc } = yield* Proxies
  const trap = rpc.arm("eth_sendRawTransaction", "holdBefore", (params) => params.includes(first.nonce.slice(2)))
  const one = yield* Effect.forkScoped(Purchase.send(url, first))
  yield* trap.arrived
  const rest = yield* Effect.forkScoped(
    Effect.forEach(others, (other) => Purchase.send(url, other), { concurrency: "unbounded" }),
  )
  yield* eventually("claimed", pending, (count) => count > others.length)
  // The server knows of its claims before it has answered this, and they wait from then on.
  yield* ask(`${url}/api/health`)
  const letGo = trap.release
  return { letGo, first: Fiber.join(one), others: Fiber.join(rest) }
})
