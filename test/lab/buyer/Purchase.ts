/** One stone being bought, and how it ended: counted on the chain and in the database, not in answers. */
import { assert } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts"
import { x402Client, x402HTTPClient } from "@x402/fetch"
import { LocalChain } from "../../../src/sandbox/LocalChain.ts"
import { verifySegment } from "../../../src/buyer/index.ts"
import { network, onChain, token } from "../Chain.ts"
import { type Answer, ask, newCommitment, newPayer, post, signedFor } from "../Fixture.ts"
import { until } from "../Eventually.ts"
import { events } from "../TransferLogs.ts"
import type { Trap } from "../proxy/Faults.ts"

export { onChain, token } from "../Chain.ts"

export const price = 10_000n

export const mine = (blocks: number) => onChain((client) => client.mine({ blocks }))
export const automine = (enabled: boolean) => onChain((client) => client.setAutomine(enabled))
export const height = onChain((client) => client.getBlockNumber({ cacheTime: 0 }))

/** Waiting transactions get their block, and so do all later ones. */
export const mineAll = Effect.andThen(automine(true), mine(1))

export type Purchase = Effect.Success<ReturnType<typeof prepare>>

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
  const [row] = yield* sql<Readonly<Record<"attempts" | "claims" | "pools" | "strays" | "stones" | "candles", number>>>`
    SELECT (SELECT count(*)::int FROM payment_attempts) AS attempts,
      (SELECT count(*)::int FROM payment_claims) AS claims, (SELECT count(*)::int FROM payment_pools) AS pools,
      (SELECT count(*)::int FROM payment_strays) AS strays, (SELECT count(*)::int FROM witness_stones) AS stones,
      (SELECT count(*)::int FROM candles) AS candles`.pipe(Effect.orDie)
  return row ?? assert.fail("nothing is counted")
})

/** Charged, recorded and set: three numbers that have to be one. */
export const books = Effect.fnUntraced(function* (purchase: Purchase) {
  const nothing = { acts: 0, stones: 0, claims: 0, state: undefined, reason: undefined, number: undefined }
  return { ...(yield* charges(purchase)), ...((yield* attemptOf(purchase)) ?? nothing) }
})

/** The seller's balance, the settled acts and the chain's length are one number; the chain is gapless and hashes. */
export const audit = Effect.fnUntraced(function* (url: string) {
  const sql = yield* SqlClient.SqlClient
  const balance = yield* onChain((client, { asset, payTo }) =>
    client.readContract({ address: asset, abi: token, functionName: "balanceOf", args: [payTo] }),
  )
  const acts = yield* sql<{ n: number }>`SELECT count(*)::int AS n FROM acts`.pipe(Effect.orDie)
  const segment = yield* ask(`${url}/api/witness/chain?limit=100`)
  assert.strictEqual(segment.status, 200, segment.text)
  const links = Number(balance / price)
  assert.strictEqual(acts[0]?.n, links, "acts recorded are acts paid for")
  const verdict = yield* Effect.promise(() =>
    verifySegment(JSON.parse(segment.text), { sequence: 0, chainHash: "0".repeat(64) }),
  )
  assert.deepInclude(verdict, { ok: true, links }, "stones set are stones paid for")
})

/** A signed stone, ready to be sent; its authorization lives for 150 seconds of the chain's own time, unless it is told. */
export const prepare = Effect.fnUntraced(function* (
  url: string,
  fundedWith: bigint = 10n * price,
  wallet?: PrivateKeyAccount,
  end?: number,
) {
  const payer = wallet ?? (yield* newPayer(fundedWith))
  const block = yield* onChain((client) => client.getBlock())
  const validBefore = String(end ?? block.timestamp + 150n)
  const body = { commitment: newCommitment() }
  const { headers, key, payment } = yield* signedFor(payer, `${url}/api/witness`, body, undefined, { validBefore })
  const { authorization, signature } = payment.payload
  return { key, body, headers, payer, nonce: authorization.nonce, signature, validBefore }
})

export const send = (url: string, { body, headers }: Purchase) => ask(`${url}/api/witness`, post(body, headers))

/** So many payments of wallets that hold no more. */
export const prepareMany = (url: string, count: number) =>
  Effect.forEach(Array.from({ length: count }), () => prepare(url, price), { concurrency: 5 })

/** The address of the relayer. */
export const relayer = Effect.map(
  LocalChain,
  ({ relayerKey }) => privateKeyToAccount(Redacted.value(relayerKey)).address,
)

/** How many transactions of the relayer are in blocks. */
export const relayed = Effect.flatMap(relayer, (address) =>
  onChain((client) => client.getTransactionCount({ address })),
)

export const reconcile = (url: string, { key }: Pick<Purchase, "key">) =>
  ask(`${url}/api/reconcile/${key}`, { method: "POST" })

/** How it ended, asked of a server that rests between looks. */
export const storedAnswer = (url: string, purchase: Pick<Purchase, "key">) =>
  reconcile(url, purchase).pipe(until(`${purchase.key} stays open`, ({ status }) => status !== 202))

/** Past the end of every authorization signed so far, on a block that is final; once, or new ones would live too long. */
export const passExpiry = onChain(async (client) => {
  await client.increaseTime({ seconds: 320 })
  await client.mine({ blocks: 4 })
})

/** Takes the newest blocks back, with everything in them. */
export const reorganise = (blocks: number) =>
  onChain(({ request }): Promise<unknown> => request({ method: "anvil_rollback", params: [blocks] } as never))

/** Waits until a look found that it fails. */
export const doubted = Effect.fnUntraced(function* ({ key }: Pick<Purchase, "key">) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`SELECT id FROM payment_attempts WHERE idempotency_key = ${key} AND doubted_at IS NOT NULL`.pipe(
    Effect.orDie,
    until(`no look found that ${key} fails`, (rows) => rows.length > 0),
  )
})

/** The look before this moment was a day ago. */
export const afterNextSweep = Effect.fnUntraced(function* ({ key }: Pick<Purchase, "key">) {
  const sql = yield* SqlClient.SqlClient
  const doubted = yield* sql`
    UPDATE payment_attempts SET doubted_at = doubted_at - interval '1 day'
    WHERE idempotency_key = ${key} AND doubted_at IS NOT NULL RETURNING id`.pipe(Effect.orDie)
  assert.strictEqual(doubted.length, 1, "a look before found that it fails")
})

/** One look fails nothing, nor do two at once; the answer to a second one that is a sweep later. */
export const secondInquiry = Effect.fnUntraced(function* (
  url: string,
  purchase: Pick<Purchase, "key"> & Partial<Purchase>,
) {
  assertPending(url, purchase, yield* reconcile(url, purchase))
  assertPending(url, purchase, yield* reconcile(url, purchase))
  yield* afterNextSweep(purchase)
  return yield* reconcile(url, purchase)
})

/** The 202 of an open outcome: where to ask again, when, and that nothing is to be paid again. */
export const assertPending = (
  url: string,
  { key, payer, validBefore }: Pick<Purchase, "key"> & Partial<Purchase>,
  answer: Answer,
) => {
  assert.strictEqual(answer.status, 202, answer.text)
  assert.strictEqual(answer.json["code"], "settlement_pending")
  assert.strictEqual(answer.headers.get("location"), `${url}/api/reconcile/${key}`)
  assert.strictEqual(answer.json["reconcile"], `${url}/api/reconcile/${key}`)
  assert.match(String(answer.json["message"]), /Do not pay again/u)
  assert.isAtLeast(Number(answer.headers.get("retry-after")), 1)
  const { attempt } = JSON.parse(answer.text)
  assert.strictEqual(attempt.network, network)
  if (validBefore !== undefined)
    assert.strictEqual(Date.parse(attempt.validBefore), Number(validBefore) * 1_000, "until when it can be paid")
  const { transaction, ...open } = JSON.parse(
    Buffer.from(answer.headers.get("payment-response") ?? "", "base64").toString(),
  )
  assert.deepStrictEqual(open, {
    success: false,
    errorReason: "settlement_pending",
    network: network,
    payer: payer?.address.toLowerCase() ?? open.payer,
  })
  assert.match(transaction, /^(?:0x[0-9a-f]{64})?$/u)
}

/** Paid once, recorded once; the key answers with the first answer for ever. */
export const assertSettled = Effect.fnUntraced(function* (url: string, purchase: Purchase) {
  const found = yield* books(purchase)
  assert.deepInclude(found, { state: "settled", charged: 1, acts: 1, stones: 1 })
  const answers = [yield* send(url, purchase), yield* reconcile(url, purchase)]
  for (const answer of answers) {
    assert.strictEqual(answer.status, 200, answer.text)
    const { receipt, record, replayed } = JSON.parse(answer.text)
    assert.strictEqual(replayed, true)
    assert.strictEqual(record.commitment, purchase.body.commitment)
    assert.strictEqual(receipt.transaction, found.transaction)
    assert.strictEqual(answer.text, answers[0]?.text)
  }
  yield* audit(url)
  return found
})

/** The settlement in an answer, as the unchanged x402 client reads it; it throws where there is none. */
export const settlementIn = ({ headers }: Answer) =>
  new x402HTTPClient(new x402Client()).getPaymentSettleResponse((name) => headers.get(name))

/** The transaction that was to pay an attempt, as the relayer or a facilitator named it; empty without a broadcast. */
const broadcastOf = Effect.fnUntraced(function* ({ key }: Pick<Purchase, "key">) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ transaction: string }>`
    SELECT coalesce(a.payment ->> 'transaction', b.hash, '') AS transaction
    FROM payment_attempts a LEFT JOIN relayer_broadcasts b ON b.attempt_id = a.id
    WHERE a.idempotency_key = ${key}`.pipe(Effect.orDie)
  return rows[0]?.transaction ?? assert.fail(`${key} has no attempt`)
})

/** Never paid, nothing recorded. It keeps its authorization and gave back the rest: the next stone draws the same number. */
export const assertFailed = Effect.fnUntraced(function* (url: string, purchase: Purchase, reason: string) {
  const found = yield* books(purchase)
  assert.deepInclude(found, { state: "failed", reason, charged: 0, acts: 0, stones: 0, claims: 1 })
  for (const answer of [yield* send(url, purchase), yield* reconcile(url, purchase)]) {
    assert.strictEqual(answer.status, 402, answer.text)
    assert.strictEqual(answer.json["code"], "payment_failed")
    assert.strictEqual(answer.json["reason"], reason)
    assert.isAtMost(answer.headers.get("payment-required")?.length ?? assert.fail(), 1_536)
    const payer = purchase.payer.address.toLowerCase()
    const settlement = {
      success: false,
      errorReason: reason,
      transaction: yield* broadcastOf(purchase),
      network,
      payer,
    }
    assert.deepStrictEqual<object>(settlementIn(answer), settlement)
    assert.deepStrictEqual(answer.json["settlement"], settlement)
  }
  const next = yield* assertNextStone(url)
  assert.strictEqual(next.number, found.number, "the number of the failed attempt goes out again")
  return found
})

/** Its client asks, and has its stone. */
export const settlesNow = Effect.fnUntraced(function* (url: string, purchase: Purchase) {
  const answer = yield* reconcile(url, purchase)
  assert.strictEqual(answer.status, 200, answer.text)
  return yield* assertSettled(url, purchase)
})

/** Two looks, a sweep apart, agree that it was never paid. */
export const failsNow = Effect.fnUntraced(function* (url: string, purchase: Purchase, reason: string) {
  const answer = yield* secondInquiry(url, purchase)
  assert.strictEqual(answer.status, 402, answer.text)
  return yield* assertFailed(url, purchase, reason)
})

/** Sends it until it is caught; the request goes on beside the test. */
export const sendInto = Effect.fnUntraced(function* (trap: Trap, url: string, purchase: Purchase) {
  const request = yield* Effect.forkScoped(send(url, purchase))
  yield* trap.arrived
  return request
})

export const assertNextStone = Effect.fnUntraced(function* (url: string) {
  const next = yield* prepare(url)
  const answer = yield* send(url, next)
  assert.strictEqual(answer.status, 201, answer.text)
  yield* audit(url)
  return yield* books(next)
})

/** Waits until no inquiry is needed. */
export const ended = (purchase: Purchase) =>
  attemptOf(purchase).pipe(
    Effect.map((attempt) => attempt?.state),
    until(`${purchase.key} stays pending`, (state) => state !== "pending"),
  )

export const reasonIn = ({ json, status }: Answer) => [status, json["code"], json["reason"]]
