/** The scan of transfers on a real chain, by a real node. */
import { assert, describe, it } from "@effect/vitest"
import { Context, Duration, Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { Chain } from "../../src/payments/chain/Chain.ts"
import * as TransferRows from "../../src/payments/chain/TransferRows.ts"
import * as Transfers from "../../src/payments/chain/Transfers.ts"
import { LocalChain } from "../../src/sandbox/LocalChain.ts"
import { chain, network, onChain, stranger, token } from "../lab/Chain.ts"
import { database, sql } from "../lab/Database.ts"
import { newPayer } from "../lab/Fixture.ts"
import { signUnasked } from "../lab/buyer/Payment.ts"
import { mine, reorganise } from "../lab/buyer/Purchase.ts"
import * as ThirdParty from "../lab/buyer/ThirdParty.ts"

/** A scanner, and the rows it has found. */
const scene = Effect.gen(function* () {
  const { asset, payTo, rpcUrl } = yield* LocalChain
  const config = { rpcUrl: Redacted.make(rpcUrl), timeout: Duration.seconds(10) } as const
  const services = yield* Layer.build(Chain.layer(config))
  const node = yield* Context.get(services, Chain).scanOf(asset)
  const rows = yield* TransferRows.make({ network, asset })
  const { scan } = Transfers.make(node, rows, { payTo, longestLife: 600, everyMillis: 0 })
  const client = yield* SqlClient.SqlClient
  const found = client<{ readonly transaction: string; readonly isFinal: boolean; readonly payer: string }>`
    SELECT transaction, is_final, payer FROM chain_transfers ORDER BY block, log_index`.pipe(Effect.orDie)
  return { found, scan }
})

/** Pays us by a stranger's hand; answers the transaction. */
const paid = Effect.gen(function* () {
  const { asset, payTo } = yield* LocalChain
  const payer = yield* newPayer()
  const { authorization, signature } = yield* Effect.promise(() => signUnasked(payer, { asset, network, payTo }))
  const transaction = yield* ThirdParty.broadcast({ payer, signature, ...authorization })
  return { payer: payer.address.toLowerCase(), transaction }
})

/** Transfers to us without an authorization. */
const plain = onChain(async (client, { asset, payTo }) => {
  const own = { address: asset, abi: token, account: stranger, chain: null } as const
  await client.waitForTransactionReceipt({
    hash: await client.writeContract({ ...own, functionName: "transfer", args: [payTo, 0n] }),
  })
})

const fixture = Layer.provideMerge(sql, Layer.merge(database, chain))

describe.concurrent("the scan of a real chain", () => {
  it.live("finds each payment once, provisional and then final, by one block or many", () =>
    Effect.gen(function* () {
      const { found, scan } = yield* scene
      yield* mine(3)
      const first = yield* paid
      yield* plain
      const second = yield* paid
      yield* mine(1)
      yield* scan
      const both = [first, second]
      assert.deepStrictEqual(
        yield* found,
        both.map((one) => ({ ...one, isFinal: one === first })),
      )
      yield* mine(3)
      yield* scan
      assert.deepStrictEqual(
        yield* found,
        both.map((one) => ({ ...one, isFinal: true })),
      )
    }).pipe(Effect.provide(fixture)),
  )

  it.live("follows a reorganisation", () =>
    Effect.gen(function* () {
      const { found, scan } = yield* scene
      yield* mine(3)
      yield* paid
      yield* mine(1)
      yield* scan
      assert.strictEqual((yield* found).length, 1)
      yield* reorganise(2)
      yield* mine(2)
      yield* scan
      assert.deepStrictEqual(yield* found, [])
      const again = yield* paid
      yield* mine(4)
      yield* scan
      assert.deepStrictEqual(yield* found, [{ ...again, isFinal: true }])
    }).pipe(Effect.provide(fixture)),
  )
})
