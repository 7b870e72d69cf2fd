/** A stone that was paid for, and hands on what becomes of its payment: orphaned blocks and due inquiries. */
import { assert } from "@effect/vitest"
import { Clock, Context, Duration, Effect, Layer, Option, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import type { Hex } from "viem"
import { DatabaseClock } from "../../src/platform/DatabaseClock.ts"
import { Chain } from "../../src/payments/chain/Chain.ts"
import * as Facilitator from "../../src/payments/settle/Facilitator.ts"
import { Finality } from "../../src/payments/Finality.ts"
import { Settlement } from "../../src/payments/settle/Settlement.ts"
import { SettledTransfers } from "../../src/payments/store/SettledTransfers.ts"
import { LocalChain } from "../../src/sandbox/LocalChain.ts"
import { patience } from "../lab/Patience.ts"
import * as Purchase from "../lab/buyer/Purchase.ts"
import { Proxies } from "../lab/TestServices.ts"
import { ask, paymentsOf, TestServer } from "../lab/Fixture.ts"
import { until } from "../lab/Eventually.ts"
import { heldClock } from "../lab/Clock.ts"
import { signedFixture } from "../lab/buyer/PaymentFixture.ts"

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

/** A database whose clock is that of the test. */
const sharedClock = Layer.succeed(DatabaseClock, {
  now: Effect.map(Clock.currentTimeMillis, (millis) => ({ millis, aheadMillis: 0 })),
})

const nodeAt = (url: string) =>
  Chain.layer({ rpcUrl: Redacted.make(url), finalTag: "finalized", timeout: Duration.seconds(10) })

/** Another server, whose facilitator may take so many seconds; it inquires when it is told to. */
export const neighbour = Effect.fnUntraced(function* (wait = 20) {
  const { terms } = paymentsOf(yield* LocalChain)
  const { facilitator, rpc } = yield* Proxies
  const timeout = Duration.millis(patience(wait))
  const server = Finality.layer({ sweepEvery: Duration.hours(1), patience: timeout }).pipe(
    Layer.provide(Facilitator.layer({ url: facilitator.url, key: Option.none(), terms, timeout })),
    Layer.provide([nodeAt(rpc.url), SettledTransfers.layer, sharedClock]),
  )
  return Context.get(yield* Layer.build(Layer.fresh(server)), Finality)
})

/** The same, which resubmits nothing. */
export const inquirer = Effect.gen(function* () {
  const { rpc } = yield* Proxies
  const settlement = Layer.mock(Settlement, { resubmit: () => Effect.succeedNone })
  const server = Finality.layer({ sweepEvery: Duration.hours(1), patience: Duration.seconds(10) }).pipe(
    Layer.provide([nodeAt(rpc.url), SettledTransfers.layer, settlement]),
  )
  return Context.get(yield* Layer.build(Layer.fresh(server)), Finality)
})

/** At this moment, whatever the time is. */
export const at = Effect.fnUntraced(function* <A>(unixSeconds: number, effect: Effect.Effect<A>) {
  const { clock, put } = yield* heldClock
  put(unixSeconds * 1000)
  return yield* Effect.provideService(effect, Clock.Clock, clock)
})

/** The one settled payment, leased for a look although its block is not final. */
export const leased = Effect.gen(function* () {
  const transfers = Context.get(yield* Layer.build(SettledTransfers.layer), SettledTransfers)
  yield* hasten
  const [taken] = (yield* transfers.lease(1, 10n ** 9n, 60_000)).transfers
  return { transfers, taken: taken ?? assert.fail("nothing is leased") }
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

/** Waits until a look has found the transfer in a block above this one; the finding of that inquiry. */
export const foundAbove = Effect.fnUntraced(function* (block: bigint) {
  const sql = yield* SqlClient.SqlClient
  yield* hasten
  const [row] = yield* sql<{ readonly finality: string; readonly settledBlock: bigint }>`
    SELECT finality, settled_block FROM payment_attempts`.pipe(
    until("it was never found again", ([row]) => (row?.settledBlock ?? 0n) > block),
  )
  return row?.finality
})

/** The next look takes its time after one that could not tell; the column rounds to milliseconds, which is not to be later. */
export const hasten = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql`UPDATE payment_attempts SET next_check_at = now() - interval '1 second'`,
)

/** An empty block stands where the newest one was, so that fees are others: the same transaction is not signed again. */
export const replaced = Effect.andThen(Purchase.reorganise(1), Purchase.mine(1))

/** A settled payment is inquired about after ten seconds, though its block is not final. */
export const settledLongAgo = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql`UPDATE payment_attempts SET ended_at = ended_at - interval '20 seconds'`,
)

/** Waits, with one look after the other, until the payer is charged on the chain as it is now. */
export const chargedAgain = ({ purchase }: Bought) =>
  Effect.andThen(hasten, Purchase.charges(purchase)).pipe(
    until("it was never charged again", ({ charged }) => charged === 1),
  )

export const health = Effect.flatMap(TestServer, ({ url }) => ask(`${url}/api/health`))
