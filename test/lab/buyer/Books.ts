/** A purchase in chain and database, and the changes to both that decide its outcome. */
import { assert } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { privateKeyToAccount } from "viem/accounts"
import { LocalChain } from "../../../src/sandbox/LocalChain.ts"
import { verify } from "../../../src/buyer/index.ts"
import { onChain, token } from "../Chain.ts"
import { ask } from "../Fixture.ts"
import { until } from "../Eventually.ts"
import { events } from "../TransferLogs.ts"
import type { Purchase } from "./Purchase.ts"

export const price = 10_000n

export const mine = (blocks: number) => onChain((client) => client.mine({ blocks }))
export const automine = (enabled: boolean) => onChain((client) => client.setAutomine(enabled))
export const height = onChain((client) => client.getBlockNumber({ cacheTime: 0 }))

/** Mines the pending transactions and all later ones. */
export const mineAll = Effect.andThen(automine(true), mine(1))

/** The chain's state of an authorization: transfers to the seller by it, and whether it can still be used. */
export const charges = ({ nonce, payer }: Purchase) =>
  onChain(async (client, { asset, payTo }) => {
    const all = { address: asset, abi: events, fromBlock: 0n } as const
    const own = { eventName: "AuthorizationUsed", args: { authorizer: payer.address, nonce } } as const
    const uses = await client.getContractEvents({ ...all, ...own })
    const toSeller = { eventName: "Transfer", args: { from: payer.address, to: payTo } } as const
    const transfers = await client.getContractEvents({ ...all, ...toSeller })
    const paying = transfers.filter((transfer) => uses.some((use) => use.transactionHash === transfer.transactionHash))
    const args = [payer.address, nonce] as const
    const state = { address: asset, abi: token, functionName: "authorizationState", args } as const
    return {
      charged: paying.length,
      transaction: paying[0]?.transactionHash,
      isUsed: await client.readContract(state),
    }
  })

export const attemptOf = Effect.fnUntraced(function* ({ key }: Pick<Purchase, "key">) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<
    Readonly<Record<"id" | "state", string>> &
      Readonly<Record<"number" | "checks" | "acts" | "stones" | "candles" | "claims", number>> & {
        readonly reason: string | null
      }
  >`SELECT id, state, reason, pool_number AS number, checks,
      (SELECT count(*)::int FROM acts WHERE id = a.id) AS acts,
      (SELECT count(*)::int FROM witness_stones WHERE id = a.id) AS stones,
      (SELECT count(*)::int FROM candles WHERE id = a.id) AS candles,
      (SELECT count(*)::int FROM payment_claims WHERE attempt_id = a.id) AS claims
    FROM payment_attempts a WHERE idempotency_key = ${key}`.pipe(Effect.orDie)
  return rows[0]
})

/** How many rows all payments have left in each table. */
export const written = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<
    Readonly<Record<"attempts" | "claims" | "pools" | "unmatched" | "stones" | "candles", number>>
  >`
    SELECT (SELECT count(*)::int FROM payment_attempts) AS attempts,
      (SELECT count(*)::int FROM payment_claims) AS claims, (SELECT count(*)::int FROM payment_pools) AS pools,
      (SELECT count(*)::int FROM unmatched_payments) AS unmatched, (SELECT count(*)::int FROM witness_stones) AS stones,
      (SELECT count(*)::int FROM candles) AS candles`.pipe(Effect.orDie)
  return row ?? assert.fail("nothing is counted")
})

/** The numbers of charges, acts and stones, which must be equal. */
export const books = Effect.fnUntraced(function* (purchase: Purchase) {
  const nothing = { acts: 0, stones: 0, claims: 0, state: undefined, reason: undefined, number: undefined }
  return { ...(yield* charges(purchase)), ...((yield* attemptOf(purchase)) ?? nothing) }
})

/** The seller's balance, the settled acts and the chain's length are one number; the chain is gapless and hashes. */
export const audit = Effect.fnUntraced(function* (server: string) {
  const sql = yield* SqlClient.SqlClient
  const balance = yield* onChain((client, { asset, payTo }) =>
    client.readContract({ address: asset, abi: token, functionName: "balanceOf", args: [payTo] }),
  )
  const acts = yield* sql<{ n: number }>`SELECT count(*)::int AS n FROM acts`.pipe(Effect.orDie)
  const segment = yield* ask(`${server}/api/witness/chain?limit=100`)
  assert.strictEqual(segment.status, 200, segment.text)
  const links = Number(balance / price)
  assert.strictEqual(acts[0]?.n, links, "acts recorded are acts paid for")
  const verdict = yield* Effect.promise(() =>
    verify(segment.text, { anchor: { sequence: 0, chainHash: "0".repeat(64) } }),
  )
  assert.deepStrictEqual([verdict.ok, verdict.head?.sequence], [true, links], "stones set are stones paid for")
})

/** The address of the relayer. */
export const relayer = Effect.map(
  LocalChain,
  ({ relayerKey }) => privateKeyToAccount(Redacted.value(relayerKey)).address,
)

/** How many transactions of the relayer are in blocks. */
export const relayed = Effect.flatMap(relayer, (address) =>
  onChain((client) => client.getTransactionCount({ address })),
)

/** Waits until the node has so many transactions of the relayer, in blocks or not: a busy machine may answer 202 before. */
export const broadcasts = (count: number) =>
  Effect.flatMap(relayer, (address) =>
    onChain((client) => client.getTransactionCount({ address, blockTag: "pending" })),
  ).pipe(until(`the node never has ${count} transactions`, (most) => most >= count))

/** Finalizes a block past the expiry of all authorizations. Only once: the next ones would live longer than is accepted. */
export const passExpiry = onChain(async (client) => {
  await client.increaseTime({ seconds: 320 })
  await client.mine({ blocks: 4 })
})

/** Takes the newest blocks back, with everything in them. */
export const reorganise = (blocks: number) =>
  onChain(({ request }): Promise<unknown> => request({ method: "anvil_rollback", params: [blocks] } as never))

/** Waits until an inquiry has a reason to fail the attempt. */
export const doubted = Effect.fnUntraced(function* ({ key }: Pick<Purchase, "key">) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`SELECT id FROM payment_attempts WHERE idempotency_key = ${key} AND doubted_at IS NOT NULL`.pipe(
    Effect.orDie,
    until(`no look found that ${key} fails`, (rows) => rows.length > 0),
  )
})

/** Dates the doubt a day back, so that the next inquiry may agree with it. */
export const afterNextSweep = Effect.fnUntraced(function* ({ key }: Pick<Purchase, "key">) {
  const sql = yield* SqlClient.SqlClient
  const doubted = yield* sql`
    UPDATE payment_attempts SET doubted_at = doubted_at - interval '1 day'
    WHERE idempotency_key = ${key} AND doubted_at IS NOT NULL RETURNING id`.pipe(Effect.orDie)
  assert.strictEqual(doubted.length, 1, "a look before found that it fails")
})

/** The transaction that was to pay an attempt, as the relayer or a facilitator named it; empty without a broadcast. */
export const broadcastOf = Effect.fnUntraced(function* ({ key }: Pick<Purchase, "key">) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ transaction: string }>`
    SELECT coalesce(a.payment ->> 'transaction', b.hash, '') AS transaction
    FROM payment_attempts a LEFT JOIN relayer_broadcasts b ON b.attempt_id = a.id
    WHERE a.idempotency_key = ${key}`.pipe(Effect.orDie)
  return rows[0]?.transaction ?? assert.fail(`${key} has no attempt`)
})
