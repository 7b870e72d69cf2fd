/** A server killed in the middle of its broadcast finds out what became of it, and brings it to the chain once. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted, Schedule } from "effect"
import { parseGwei } from "viem"
import { privateKeyToAccount } from "viem/accounts"
import { LocalChain } from "../../src/sandbox/LocalChain.ts"
import { patience } from "../support/Patience.ts"
import * as Purchase from "../support/Purchase.ts"
import * as ServerProcess from "../support/ServerProcess.ts"
import { stage, Proxies } from "../support/Proxies.ts"

/** A broadcast counts as lost or stuck after three seconds. */
const environment = Effect.gen(function* () {
  const chain = yield* LocalChain
  const { database, rpc } = yield* Proxies
  return {
    DATABASE_URL: database.url,
    X402_NETWORK: chain.network,
    RPC_URL: rpc.url,
    PAY_TO: chain.payTo,
    RELAYER_KEY: Redacted.value(chain.relayerKey),
    SETTLE_TIMEOUT_SECONDS: "1",
    SWEEP_SECONDS: "1",
    LOG_LEVEL: "None",
  }
})

const relayed = Effect.gen(function* () {
  const { relayerKey } = yield* LocalChain
  const { address } = privateKeyToAccount(Redacted.value(relayerKey))
  return yield* Purchase.onChain((client) => client.getTransactionCount({ address }))
})

const untilEnded = (purchase: Purchase.Purchase) =>
  Purchase.attemptOf(purchase).pipe(
    Effect.repeat({ until: (attempt) => attempt?.state !== "pending", schedule: Schedule.spaced("100 millis") }),
    Effect.timeoutOrElse({ duration: patience(50), orElse: () => Effect.die("it stays pending") }),
  )

/** A server that dies while a broadcast is caught. */
const killed = Effect.fnUntraced(function* (fault: "holdBefore" | "holdAfter", isMined: boolean) {
  const { rpc } = yield* Proxies
  const server = yield* ServerProcess.make(yield* environment)
  yield* server.start
  const purchase = yield* Purchase.prepare(server.url)
  yield* Purchase.onChain((client) => client.setAutomine(isMined))
  const trap = rpc.arm("eth_sendRawTransaction", fault)
  yield* Effect.forkScoped(Effect.exit(Purchase.send(server.url, purchase)))
  yield* trap.arrived
  yield* server.kill
  yield* rpc.calm
  yield* trap.discard
  return { purchase, server }
})

describe("a server killed in the middle of its broadcast", { concurrent: true }, () => {
  it.live(
    "which never arrives makes it anew at its next start",
    () =>
      Effect.gen(function* () {
        const { purchase, server } = yield* killed("holdBefore", true)
        assert.deepInclude(yield* Purchase.charges(purchase), { charged: 0, isUsed: false })
        yield* server.start
        yield* untilEnded(purchase)
        assert.strictEqual(yield* relayed, 1)
        yield* Purchase.assertSettled(server.url, purchase)
        yield* Purchase.assertNextStone(server.url)
      }).pipe(Effect.provide(stage)),
    120_000,
  )

  it.live(
    "which no block takes replaces it at its next start",
    () =>
      Effect.gen(function* () {
        const { purchase, server } = yield* killed("holdAfter", false)
        yield* Purchase.onChain(async (client) => {
          await client.setNextBlockBaseFeePerGas({ baseFeePerGas: parseGwei("500") })
          await client.mine({ blocks: 1 })
          await client.setAutomine(true)
        })
        assert.deepInclude(yield* Purchase.charges(purchase), { charged: 0, isUsed: false })
        yield* server.start
        yield* untilEnded(purchase)
        assert.strictEqual(yield* relayed, 1)
        yield* Purchase.assertSettled(server.url, purchase)
      }).pipe(Effect.provide(stage)),
    120_000,
  )
})
