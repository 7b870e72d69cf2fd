/** A stone that was paid for, and hands on what becomes of its payment: orphaned blocks and due inquiries. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { Hex } from "viem"
import * as Purchase from "../lab/buyer/Purchase.ts"
import { signedFixture } from "../lab/buyer/PaymentFixture.ts"
import { until } from "../lab/Eventually.ts"
import { ask, TestServer } from "../lab/Fixture.ts"

interface Receipt {
  readonly transaction: Hex
  readonly finality?: string
  readonly currentTransaction?: Hex
}

type Bought = Effect.Success<typeof buy>

export const buy = Effect.gen(function* () {
  const { purchase, url } = yield* signedFixture
  const answer = yield* Purchase.send(url, purchase)
  assert.strictEqual(answer.status, 201, answer.text)
  const { receipt, record }: { receipt: Receipt; record: { id: string; chainHash: string } } = JSON.parse(answer.text)
  assert.notProperty(receipt, "finality", "the first answer does not say it: its replays are the same bytes")
  return { purchase, text: answer.text, id: record.id, receipt, chainHash: record.chainHash }
})

/** The transaction that paid it, as it was sent. */
export const rawOf = ({ receipt }: Bought) =>
  Purchase.onChain(async ({ request }) => {
    const question = { method: "eth_getRawTransactionByHash" as never, params: [receipt.transaction] as never }
    return (await request(question)) as unknown as Hex
  })

export const readAct = ({ id }: Bought) =>
  Effect.flatMap(TestServer, ({ url }) => ask(`${url}/api/acts/${id}`)).pipe(
    Effect.map(({ text }): Receipt => JSON.parse(text).act.receipt),
  )

/** Waits until a read says so, doing something before each; returns the receipt it shows. */
export const becomes = (
  bought: Bought,
  finality: string,
  before: Effect.Effect<unknown, unknown, SqlClient.SqlClient> = Effect.void,
) =>
  Effect.andThen(before, readAct(bought)).pipe(
    until(`never became ${finality}`, (receipt) => receipt.finality === finality),
  )

/** For every fate of the block: the same answer, the same record, the same link. */
export const assertKept = Effect.fnUntraced(function* ({ chainHash, id, purchase, text }: Bought) {
  const { url } = yield* TestServer
  const again = yield* Purchase.send(url, purchase)
  assert.deepStrictEqual([again.status, again.text], [200, text.replace(/false\}$/u, "true}")])
  assert.strictEqual((yield* Purchase.reconcile(url, purchase)).text, again.text)
  const { stone } = JSON.parse((yield* ask(`${url}/api/witness/${id}`)).text)
  assert.strictEqual(stone.chainHash, chainHash)
  const { entries } = JSON.parse((yield* ask(`${url}/api/witness/chain`)).text)
  assert.include(
    entries.map((entry: { readonly chainHash: string }) => entry.chainHash),
    chainHash,
  )
})

/** Waits until the sweeper has looked so often and could not tell. */
export const looked = Effect.fnUntraced(function* (times: number) {
  const sql = yield* SqlClient.SqlClient
  yield* sql<{ readonly checks: number }>`SELECT checks FROM payment_attempts`.pipe(
    until("the sweeper never looked", ([row]) => (row?.checks ?? 0) >= times),
  )
})

/** The next look takes its time after one that could not tell; the column rounds to milliseconds, which is not to be later. */
export const hasten = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql`UPDATE payment_attempts SET next_check_at = now() - interval '1 second'`,
)

/** An empty block stands where the newest one was, so that fees are others: the same transaction is not signed again. */
export const replaced = Effect.andThen(Purchase.reorganise(1), Purchase.mine(1))

/** Waits, with one look after the other, until the payer is charged on the chain as it is now. */
export const chargedAgain = ({ purchase }: Bought) =>
  Effect.andThen(hasten, Purchase.charges(purchase)).pipe(
    until("it was never charged again", ({ charged }) => charged === 1),
  )

export const health = Effect.flatMap(TestServer, ({ url }) => ask(`${url}/api/health`))
