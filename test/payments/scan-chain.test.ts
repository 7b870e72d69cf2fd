/** The scan of transfers on a real chain, by a real node and by ones that are narrow, forgetful or behind. */
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
import * as RpcProxy from "../lab/proxy/Node.ts"
import { sign } from "../lab/buyer/Payment.ts"
import { mine, price, reorganise } from "../lab/buyer/Purchase.ts"
import * as ThirdParty from "../lab/buyer/ThirdParty.ts"

/** A scanner whose questions pass a proxy, and the rows it has found. */
const scene = Effect.gen(function* () {
  const { asset, payTo, rpcUrl } = yield* LocalChain
  const rpc = yield* RpcProxy.make(rpcUrl)
  const config = { rpcUrl: Redacted.make(rpc.url), finalTag: "finalized", timeout: Duration.seconds(10) } as const
  const services = yield* Layer.build(Chain.layer(config))
  const node = yield* Context.get(services, Chain).scanOf(asset)
  const rows = yield* TransferRows.make({ network, asset })
  const { scan } = Transfers.make(node, rows, { payTo, longestLife: 600, everyMillis: 0 })
  const client = yield* SqlClient.SqlClient
  const found = client<{ readonly transaction: string; readonly isFinal: boolean; readonly payer: string }>`
    SELECT transaction, is_final, payer FROM chain_transfers ORDER BY block, log_index`.pipe(Effect.orDie)
  return { found, rpc, scan }
})

/** Pays us by a stranger's hand; answers the transaction. */
const paid = Effect.gen(function* () {
  const { asset, payTo } = yield* LocalChain
  const payer = yield* newPayer()
  const { timestamp } = yield* onChain((client) => client.getBlock())
  const extra = { name: "USDC", version: "2" }
  const offer = { scheme: "exact", network, amount: String(price), asset, payTo, maxTimeoutSeconds: 300, extra }
  const validBefore = String(timestamp + 150n)
  const { payload } = yield* sign(payer, offer, { url: "" }, { validBefore })
  const signed = { payer, nonce: payload.authorization.nonce, signature: payload.signature, validBefore }
  return { payer: payer.address.toLowerCase(), transaction: yield* ThirdParty.broadcast(signed) }
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

  it.live("reads a node that takes ten blocks at once, and one that forgot its logs before", () =>
    Effect.gen(function* () {
      const { found, rpc, scan } = yield* scene
      yield* mine(40)
      const one = yield* paid
      yield* mine(1)
      rpc.behave(() => ({ forgets: ["logs"] }))
      yield* scan
      assert.deepStrictEqual(yield* found, [])
      rpc.behave(() => ({ logRange: 10 }))
      yield* mine(3)
      yield* scan
      assert.deepStrictEqual(yield* found, [{ ...one, isFinal: true }])
      yield* mine(40)
      const other = yield* paid
      yield* mine(4)
      yield* scan
      assert.deepStrictEqual(
        yield* found,
        [one, other].map((each) => ({ ...each, isFinal: true })),
      )
    }).pipe(Effect.provide(fixture)),
  )

  it.live("stays as it is with a node that limits its questions", () =>
    Effect.gen(function* () {
      const { found, rpc, scan } = yield* scene
      yield* mine(3)
      yield* scan
      const one = yield* paid
      yield* mine(4)
      rpc.arm("eth_getLogs", "rateLimit")
      yield* Effect.flip(scan)
      assert.deepStrictEqual(yield* found, [])
      yield* rpc.calm
      yield* scan
      assert.deepStrictEqual(yield* found, [{ ...one, isFinal: true }])
    }).pipe(Effect.provide(fixture)),
  )
})
