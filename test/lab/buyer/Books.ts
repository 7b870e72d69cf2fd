/** The cost of a stone and its record, counted on the chain and in the database. */
import { createHash } from "node:crypto"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { onChain, token } from "../Chain.ts"
import { ask } from "../Fixture.ts"
import { events } from "../TransferLogs.ts"
import type { Purchase } from "./Purchase.ts"

export const price = 10_000n

/** The chain's state of an authorization: transfers to the seller by it, and whether it can still be used. */
export const charges = ({ nonce, payer }: Purchase) =>
  onChain(async (client, { asset, payTo }) => {
    const all = { address: asset, abi: events, fromBlock: 0n } as const
    const own = { eventName: "AuthorizationUsed", args: { authorizer: payer.address, nonce } } as const
    const uses = await client.getContractEvents({ ...all, ...own })
    const toSeller = { eventName: "Transfer", args: { from: payer.address, to: payTo } } as const
    const transfers = await client.getContractEvents({ ...all, ...toSeller })
    const paying = transfers.filter((one) => uses.some((use) => use.transactionHash === one.transactionHash))
    const args = [payer.address, nonce] as const
    const state = { address: asset, abi: token, functionName: "authorizationState", args } as const
    return {
      charged: paying.length,
      transaction: paying[0]?.transactionHash,
      isUsed: await client.readContract(state),
    }
  })

export const attemptOf = Effect.fnUntraced(function* ({ key }: Purchase) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{
    readonly state: string
    readonly reason: string | null
    readonly number: number
    readonly checks: number
    readonly acts: number
    readonly stones: number
    readonly claims: number
  }>`SELECT state, reason, pool_number AS number, checks,
      (SELECT count(*)::int FROM acts WHERE id = a.id) AS acts,
      (SELECT count(*)::int FROM witness_stones WHERE id = a.id) AS stones,
      (SELECT count(*)::int FROM payment_claims WHERE attempt_id = a.id) AS claims
    FROM payment_attempts a WHERE idempotency_key = ${key}`.pipe(Effect.orDie)
  return rows[0]
})

export type Books = Effect.Success<ReturnType<typeof books>>

/** Charged, recorded and set: three numbers that have to be one. */
export const books = Effect.fnUntraced(function* (purchase: Purchase) {
  const nothing = { acts: 0, stones: 0, claims: 0, state: undefined, reason: undefined, number: undefined }
  return { ...(yield* charges(purchase)), ...((yield* attemptOf(purchase)) ?? nothing) }
})

const linkHash = (...parts: ReadonlyArray<string>) => createHash("sha256").update(parts.join("\0")).digest("hex")

/** The seller's balance, the settled acts and the chain's length are one number; the chain is gapless and hashes. */
export const audit = Effect.fnUntraced(function* (url: string) {
  const sql = yield* SqlClient.SqlClient
  const balance = yield* onChain((client, { asset, payTo }) =>
    client.readContract({ address: asset, abi: token, functionName: "balanceOf", args: [payTo] }),
  )
  const acts = yield* sql<{ n: number }>`SELECT count(*)::int AS n FROM acts`.pipe(Effect.orDie)
  const segment = yield* ask(`${url}/api/witness/chain?limit=100`)
  assert.strictEqual(segment.status, 200, segment.text)
  const { entries, head }: Segment = JSON.parse(segment.text)
  assert.strictEqual(acts[0]?.n, Number(balance / price), "acts recorded are acts paid for")
  assert.strictEqual(entries.length, Number(balance / price), "stones set are stones paid for")
  let previous = "0".repeat(64)
  for (const [index, entry] of entries.entries()) {
    const { chainHash, commitment, previousHash, sequence, transaction, witnessedAt } = entry
    assert.strictEqual(sequence, index + 1)
    assert.strictEqual(previousHash, previous)
    assert.strictEqual(chainHash, linkHash(previous, String(sequence), commitment, witnessedAt, transaction))
    previous = chainHash
  }
  assert.deepStrictEqual(head, { sequence: entries.length, chainHash: previous })
})

interface Segment {
  readonly entries: ReadonlyArray<
    Record<"chainHash" | "commitment" | "previousHash" | "transaction" | "witnessedAt", string> & {
      readonly sequence: number
    }
  >
  readonly head: { readonly sequence: number; readonly chainHash: string }
}
