/** An authorization that stops being good, at any moment, costs its payer nothing and its neighbours nothing. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import { parseEther, parseGwei } from "viem"
import { LocalChain } from "../../src/sandbox/LocalChain.ts"
import * as Purchase from "../lab/buyer/Purchase.ts"
import { proxiedServer, Proxies } from "../lab/server/ProxiedServer.ts"
import { broadcast } from "../lab/buyer/ThirdParty.ts"
import { World } from "../lab/Fixture.ts"

// Account 0 of the public test mnemonic: anvil signs for it.
const stranger = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"

const cancel = ({ nonce, payer }: Purchase.Purchase) =>
  Purchase.onChain(async (client, { asset, chainId }) => {
    const signature = await payer.signTypedData({
      domain: { name: "USDC", version: "2", chainId, verifyingContract: asset },
      types: {
        CancelAuthorization: [
          { name: "authorizer", type: "address" },
          { name: "nonce", type: "bytes32" },
        ],
      },
      primaryType: "CancelAuthorization",
      message: { authorizer: payer.address, nonce },
    })
    const args = [payer.address, nonce, signature] as const
    const call = { address: asset, abi: Purchase.token, functionName: "cancelAuthorization", args } as const
    await client.waitForTransactionReceipt({
      hash: await client.writeContract({ ...call, account: stranger, chain: null }),
    })
  })

/** All the payer's money goes elsewhere; with a fee that puts it before anything else in its block. */
const spend = ({ payer }: Purchase.Purchase) =>
  Purchase.onChain(async (client, { asset }) => {
    const args = [payer.address] as const
    const balance = await client.readContract({ address: asset, abi: Purchase.token, functionName: "balanceOf", args })
    await client.setBalance({ address: payer.address, value: parseEther("1") })
    return client.writeContract({
      address: asset,
      abi: Purchase.token,
      functionName: "transfer",
      args: [stranger, balance],
      account: payer,
      chain: null,
      gas: 100_000n,
      maxFeePerGas: parseGwei("100"),
      maxPriorityFeePerGas: parseGwei("90"),
    })
  })

/** Anyone who saw the authorization on the chain may bring it there again. */
const replayByStranger = ({ nonce, payer, signature, validBefore }: Purchase.Purchase) =>
  Purchase.onChain(async (client, { asset, payTo }) => {
    const args = [payer.address, payTo, Purchase.price, 0n, BigInt(validBefore), nonce, signature] as const
    const call = { address: asset, abi: Purchase.token, functionName: "transferWithAuthorization", args } as const
    await client.waitForTransactionReceipt({
      hash: await client.writeContract({ ...call, account: stranger, chain: null }),
    })
  })

const refusedBefore = Effect.fnUntraced(function* (purchase: Purchase.Purchase, reason: string) {
  const { url } = yield* World
  const sql = yield* SqlClient.SqlClient
  const answer = yield* Purchase.send(url, purchase)
  assert.strictEqual(answer.status, 402, answer.text)
  assert.strictEqual(answer.json["code"], "payment_invalid")
  assert.strictEqual(answer.json["reason"], reason)
  const written = yield* sql<{ n: number }>`
    SELECT ((SELECT count(*) FROM payment_attempts) + (SELECT count(*) FROM payment_claims)
      + (SELECT count(*) FROM payment_pools))::int AS n`
  assert.strictEqual(written[0]?.n, 0, "nothing is written")
  assert.strictEqual((yield* Purchase.reconcile(url, purchase)).status, 404)
  yield* Purchase.assertNextStone(url)
})

describe("before settlement", { concurrent: true }, () => {
  it.live("a cancelled authorization is refused and nothing is written", () =>
    Effect.gen(function* () {
      const { url } = yield* World
      const purchase = yield* Purchase.prepare(url)
      yield* cancel(purchase)
      // A block that may be taken back decides nothing.
      const undecided = yield* Purchase.send(url, purchase)
      assert.strictEqual(undecided.status, 503, undecided.text)
      yield* Purchase.onChain((client) => client.mine({ blocks: 4 }))
      yield* refusedBefore(purchase, "invalid_exact_evm_nonce_already_used")
    }).pipe(Effect.provide(proxiedServer("relayer", "10 seconds"))),
  )

  it.live("one that is over on the chain's clock is refused and nothing is written", () =>
    Effect.gen(function* () {
      const { url } = yield* World
      const purchase = yield* Purchase.prepare(url)
      yield* Purchase.outlive
      yield* refusedBefore(purchase, "invalid_exact_evm_payload_authorization_valid_before")
    }).pipe(Effect.provide(proxiedServer("relayer", "10 seconds"))),
  )

  it.live("a payer without funds is refused and nothing is written", () =>
    Effect.gen(function* () {
      const { url } = yield* World
      yield* refusedBefore(yield* Purchase.prepare(url, 9_999n), "invalid_exact_evm_insufficient_balance")
    }).pipe(Effect.provide(proxiedServer("relayer", "10 seconds"))),
  )

  it.live(
    "a payer without funds is not told that nothing was charged, since somebody may fund and settle it at once",
    () =>
      Effect.gen(function* () {
        const { url } = yield* World
        const purchase = yield* Purchase.prepare(url, 0n)
        const refused = yield* Purchase.send(url, purchase)
        assert.strictEqual(refused.json["reason"], "invalid_exact_evm_insufficient_balance")
        assert.match(String(refused.json["message"]), /fund it and sign again\. This request charged nothing\.$/u)
        yield* Effect.flatMap(LocalChain, ({ fund }) => fund(purchase.payer.address, Purchase.price))
        yield* broadcast(purchase)
        assert.strictEqual((yield* Purchase.send(url, purchase)).status, 201)
        yield* Purchase.assertSettled(url, purchase)
      }).pipe(Effect.provide(proxiedServer("relayer", "10 seconds"))),
  )
})

describe("between verification and broadcast", { concurrent: true }, () => {
  for (const settledBy of ["relayer", "facilitator"] as const) {
    const when = settledBy === "relayer" ? "at once" : "when two looks agree"
    it.live(`a wallet that is emptied ends the payment ${when} (${settledBy})`, () =>
      Effect.gen(function* () {
        const { url } = yield* World
        const { facilitator, rpc } = yield* Proxies
        const purchase = yield* Purchase.prepare(url)
        const trap = settledBy === "relayer" ? rpc.arm("eth_estimateGas", "holdBefore") : facilitator.arm("holdBefore")
        const request = yield* Effect.forkScoped(Purchase.send(url, purchase))
        yield* trap.arrived
        yield* spend(purchase)
        yield* rpc.calm
        yield* facilitator.calm
        yield* trap.release
        const first = yield* Fiber.join(request)
        if (settledBy === "facilitator") Purchase.assertPending(url, purchase, first)
        const answer = settledBy === "relayer" ? first : yield* Purchase.secondLook(url, purchase)
        assert.strictEqual(answer.status, 402, answer.text)
        yield* Purchase.assertFailed(url, purchase, "invalid_exact_evm_insufficient_balance")
      }).pipe(Effect.provide(proxiedServer(settledBy, "10 seconds"))),
    )
  }

  it.live("an authorization that ends is never broadcast", () =>
    Effect.gen(function* () {
      const { url } = yield* World
      const { rpc } = yield* Proxies
      const purchase = yield* Purchase.prepare(url)
      const trap = rpc.arm("eth_estimateGas", "holdBefore")
      const request = yield* Effect.forkScoped(Purchase.send(url, purchase))
      yield* trap.arrived
      yield* Purchase.outlive
      yield* rpc.calm
      yield* trap.release
      const answer = yield* Fiber.join(request)
      assert.strictEqual(answer.status, 402, answer.text)
      yield* Purchase.assertFailed(url, purchase, "authorization_expired")
    }).pipe(Effect.provide(proxiedServer("relayer", "10 seconds"))),
  )

  it.live("a cancellation counts once it is final", () =>
    Effect.gen(function* () {
      const { url } = yield* World
      const { rpc } = yield* Proxies
      const purchase = yield* Purchase.prepare(url)
      const trap = rpc.arm("eth_sendRawTransaction", "holdBefore")
      const request = yield* Effect.forkScoped(Purchase.send(url, purchase))
      yield* trap.arrived
      yield* cancel(purchase)
      yield* rpc.calm
      yield* trap.release
      Purchase.assertPending(url, purchase, yield* Fiber.join(request))
      yield* Purchase.onChain((client) => client.mine({ blocks: 4 }))
      const answer = yield* Purchase.secondLook(url, purchase)
      assert.strictEqual(answer.status, 402, answer.text)
      yield* Purchase.assertFailed(url, purchase, "authorization_canceled")
    }).pipe(Effect.provide(proxiedServer("relayer", "10 seconds"))),
  )
})

/** The relayer's transaction waits, the money leaves in front of it, and both are mined: ours reverts. */
const revert = Effect.gen(function* () {
  const { url } = yield* World
  const { rpc } = yield* Proxies
  const purchase = yield* Purchase.prepare(url)
  yield* Purchase.onChain((client) => client.setAutomine(false))
  const trap = rpc.arm("eth_sendRawTransaction", "holdAfter")
  const request = yield* Effect.forkScoped(Purchase.send(url, purchase))
  yield* trap.arrived
  yield* rpc.calm
  yield* spend(purchase)
  yield* Purchase.onChain((client) => client.mine({ blocks: 1 }))
  yield* Purchase.onChain((client) => client.setAutomine(true))
  yield* trap.release
  Purchase.assertPending(url, purchase, yield* Fiber.join(request))
  assert.deepInclude(yield* Purchase.charges(purchase), { charged: 0, isUsed: false })
  yield* Purchase.onChain((client) => client.mine({ blocks: 4 }))
  Purchase.assertPending(url, purchase, yield* Purchase.reconcile(url, purchase))
  return purchase
})

describe("a transfer that reverts", { concurrent: true }, () => {
  it.live("fails only when nobody can bring it on the chain any more", () =>
    Effect.gen(function* () {
      const { url } = yield* World
      const purchase = yield* revert
      yield* Purchase.outlive
      const answer = yield* Purchase.secondLook(url, purchase)
      assert.strictEqual(answer.status, 402, answer.text)
      yield* Purchase.assertFailed(url, purchase, "authorization_expired")
    }).pipe(Effect.provide(proxiedServer("relayer"))),
  )

  it.live("settles when somebody else brings it on the chain after all", () =>
    Effect.gen(function* () {
      const { url } = yield* World
      const { fund } = yield* LocalChain
      const purchase = yield* revert
      yield* fund(purchase.payer.address, Purchase.price)
      yield* replayByStranger(purchase)
      const answer = yield* Purchase.reconcile(url, purchase)
      assert.strictEqual(answer.status, 200, answer.text)
      yield* Purchase.assertSettled(url, purchase)
    }).pipe(Effect.provide(proxiedServer("relayer"))),
  )

  it.live("fails none of the twenty payments beside it", () =>
    Effect.gen(function* () {
      const { url } = yield* World
      const { rpc } = yield* Proxies
      const bad = yield* Purchase.prepare(url)
      const good = yield* Effect.forEach(Array.from({ length: 20 }), () => Purchase.prepare(url))
      const trap = rpc.arm("eth_sendRawTransaction", "holdBefore", (params) =>
        params.includes(bad.payer.address.slice(2).toLowerCase()),
      )
      const badRequest = yield* Effect.forkScoped(Purchase.send(url, bad))
      const requests = yield* Effect.forEach(good, (one) => Effect.forkScoped(Purchase.send(url, one)))
      yield* trap.arrived
      yield* spend(bad)
      yield* rpc.calm
      yield* trap.release
      Purchase.assertPending(url, bad, yield* Fiber.join(badRequest))
      const answers = yield* Effect.forEach(requests, Fiber.join)
      assert.deepStrictEqual(
        answers.map(({ status }) => status),
        good.map(() => 201),
      )
      yield* Purchase.outlive
      yield* Purchase.secondLook(url, bad)
      yield* Purchase.assertFailed(url, bad, "authorization_expired")
    }).pipe(Effect.provide(proxiedServer("relayer", "10 seconds"))),
  )

  it.live("that is found before its broadcast fails none of the twenty payments beside it", () =>
    Effect.gen(function* () {
      const { url } = yield* World
      const { rpc } = yield* Proxies
      const bad = yield* Purchase.prepare(url)
      const good = yield* Effect.forEach(Array.from({ length: 20 }), () => Purchase.prepare(url))
      const trap = rpc.arm("eth_estimateGas", "holdBefore", (params) =>
        params.includes(bad.payer.address.slice(2).toLowerCase()),
      )
      const badRequest = yield* Effect.forkScoped(Purchase.send(url, bad))
      yield* trap.arrived
      yield* spend(bad)
      yield* rpc.calm
      const answers = yield* Effect.forEach(good, (one) => Purchase.send(url, one), { concurrency: "unbounded" })
      yield* trap.release
      assert.strictEqual((yield* Fiber.join(badRequest)).status, 402)
      assert.deepStrictEqual(
        answers.map(({ status }) => status),
        good.map(() => 201),
      )
      yield* Purchase.assertFailed(url, bad, "invalid_exact_evm_insufficient_balance")
    }).pipe(Effect.provide(proxiedServer("relayer", "10 seconds"))),
  )
})
