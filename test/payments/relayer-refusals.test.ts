/** A node that refuses what the relayer sends: what it may have taken all the same is not sent again beside it. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { parseEther } from "viem"
import { LocalChain } from "../../src/sandbox/LocalChain.ts"
import * as Crowd from "../lab/buyer/QueuedPayments.ts"
import * as Purchase from "../lab/buyer/Purchase.ts"
import { proxiedServer, Proxies } from "../lab/server/ProxiedServer.ts"
import { stranger } from "../lab/Chain.ts"
import { World } from "../lab/Fixture.ts"

const prepare = (url: string, count: number) =>
  Effect.forEach(Array.from({ length: count }), () => Purchase.prepare(url, Purchase.price), { concurrency: 5 })

const patient = proxiedServer("relayer", "20 seconds")
/** Not before all of a crowd have come. */
const impatient = proxiedServer("relayer", "6 seconds")

/** Whether the parameters of a call carry two or more of these payments. */
const isGroupOf = (purchases: ReadonlyArray<Purchase.Purchase>) => (params: string) =>
  purchases.filter(({ nonce }) => params.includes(nonce.slice(2))).length > 1

const settledInTheEnd = Effect.fnUntraced(function* (url: string, purchases: ReadonlyArray<Purchase.Purchase>) {
  for (const one of purchases) {
    yield* Crowd.eventually("settled", Purchase.reconcile(url, one), ({ status }) => status === 200)
    yield* Purchase.assertSettled(url, one)
  }
})

describe("a group that the node refuses", { concurrent: true }, () => {
  it.live("and has taken is not sent again", () =>
    Effect.gen(function* () {
      const { url } = yield* World
      const { rpc } = yield* Proxies
      const [first, ...others] = yield* prepare(url, 5)
      if (first === undefined) return
      rpc.arm("eth_sendRawTransaction", "deny", isGroupOf(others))
      const crowd = yield* Crowd.gather(url, first, others)
      yield* crowd.letGo
      for (const { status, text } of yield* crowd.others) assert.strictEqual(status, 201, text)
      const sent = yield* Crowd.sentFor([first, ...others])
      assert.deepStrictEqual(
        sent.map(({ payments }) => payments),
        [1, 4],
      )
    }).pipe(Effect.provide(patient)),
  )

  it.live("for a reason that may pass ends open as a whole, and is not sent one by one beside it", () =>
    Effect.gen(function* () {
      const { url } = yield* World
      const { rpc } = yield* Proxies
      const [first, ...others] = yield* prepare(url, 5)
      if (first === undefined) return
      let singles = 0
      rpc.arm("eth_sendRawTransaction", "refusal", isGroupOf(others))
      const crowd = yield* Crowd.gather(url, first, others)
      rpc.arm("eth_sendRawTransaction", "holdBefore", (params) => {
        if (others.some(({ nonce }) => params.includes(nonce.slice(2)))) singles += 1
        return false
      })
      yield* crowd.letGo
      for (const [index, answer] of (yield* crowd.others).entries()) {
        const one = others[index]
        if (one !== undefined) Purchase.assertPending(url, one, answer)
      }
      assert.strictEqual(singles, 0)
      yield* rpc.calm
      yield* settledInTheEnd(url, others)
    }).pipe(Effect.provide(impatient)),
  )

  it.live("to rehearse just now waits as a whole, and is tried together again", () =>
    Effect.gen(function* () {
      const { url } = yield* World
      const { rpc } = yield* Proxies
      const [first, ...others] = yield* prepare(url, 5)
      if (first === undefined) return
      const crowd = yield* Crowd.gather(url, first, others)
      let estimates = 0
      rpc.arm("eth_call", "refusal", isGroupOf(others))
      rpc.arm("eth_estimateGas", "holdBefore", () => {
        estimates += 1
        return false
      })
      yield* crowd.letGo
      for (const [index, answer] of (yield* crowd.others).entries()) {
        const one = others[index]
        if (one !== undefined) Purchase.assertPending(url, one, answer)
      }
      assert.strictEqual(estimates, 0, "each is asked about by itself")
      yield* rpc.calm
      yield* settledInTheEnd(url, others)
    }).pipe(Effect.provide(impatient)),
  )
})

describe("a wallet that is emptied behind the rehearsal of its transfer", { concurrent: true }, () => {
  it.live("makes us pay once, and is refused from then on", () =>
    Effect.gen(function* () {
      const { url } = yield* World
      const { rpc } = yield* Proxies
      const purchase = yield* Purchase.prepare(url, Purchase.price)
      const { payer } = purchase
      const trap = rpc.arm("eth_sendRawTransaction", "holdBefore")
      const request = yield* Effect.forkScoped(Purchase.send(url, purchase))
      yield* trap.arrived
      yield* rpc.calm
      yield* Purchase.onChain(async (client, { asset }) => {
        await client.setBalance({ address: payer.address, value: parseEther("1") })
        await client.waitForTransactionReceipt({
          hash: await client.writeContract({
            address: asset,
            abi: Purchase.token,
            functionName: "transfer",
            args: [stranger, Purchase.price],
            account: payer,
            chain: null,
          }),
        })
      })
      yield* trap.release
      Purchase.assertPending(url, purchase, yield* Fiber.join(request))
      yield* Effect.flatMap(LocalChain, ({ fund }) => fund(payer.address, 60n * Purchase.price))
      const next = Effect.gen(function* () {
        yield* Purchase.reconcile(url, purchase)
        return yield* Purchase.send(url, yield* Purchase.prepare(url, undefined, payer))
      })
      const refused = yield* Crowd.eventually("refused", next, ({ status }) => status === 402)
      assert.deepStrictEqual([refused.json["code"], refused.json["reason"]], ["payment_invalid", "wallet_did_not_pay"])
      assert.match(
        String(refused.json["message"]),
        /for an hour .* This request charged nothing; until its validBefore .* Pay from another wallet/u,
      )
    }).pipe(Effect.provide(impatient)),
  )
})
