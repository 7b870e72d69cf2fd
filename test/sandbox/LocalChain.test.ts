// The local chain is ready at once, keeps what it was told to keep, and leaves no process behind.
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { Effect, Redacted } from "effect"
import { privateKeyToAccount } from "viem/accounts"
import { LocalChain } from "../../src/sandbox/LocalChain.ts"
import { submitCancel } from "../lab/buyer/ThirdParty.ts"
import { chainClient, network, token } from "../lab/Chain.ts"
import { isAlive } from "../lab/Processes.ts"
import { until } from "../lab/Eventually.ts"
import { newFolder } from "../lab/Folders.ts"
import { assert, assertEach, describe, live } from "../lab/Suites.ts"

const payer = "0x00000000000000000000000000000000000000aa"
const pidOf = (stateFile: string) => Number(readFileSync(`${stateFile}.pid`, "utf8"))
const withChain = <Eff extends Effect.Effect<unknown, unknown>, A>(
  options: { readonly stateFile?: string; readonly heartbeatMs?: number },
  use: (chain: LocalChain["Service"], client: ReturnType<typeof chainClient>) => Generator<Eff, A, never>,
) =>
  Effect.flatMap(LocalChain, (chain) => Effect.gen(() => use(chain, chainClient(chain.rpcUrl)))).pipe(
    Effect.provide(LocalChain.layer({ network, ...options }), { local: true }),
  )

describe("LocalChain", () => {
  live("serves the network it names, with gas for its relayer, and with safe and finalized blocks", () =>
    withChain({}, function* (chain, client) {
      const relayer = privateKeyToAccount(Redacted.value(chain.relayerKey)).address
      assert.strictEqual(yield* Effect.promise(() => client.getChainId()), 84532)
      const balance = yield* Effect.promise(() => client.getBalance({ address: relayer }))
      assert.isAtLeast(Number(balance / 10n ** 18n), 1000)
      assert.include(String(chain.relayerKey), "redacted")

      yield* chain.fund(payer, 1n)
      yield* Effect.repeat(chain.mine, { times: 3 })
      const numbers = yield* Effect.forEach(["latest", "safe", "finalized"] as const, (blockTag) =>
        Effect.promise(() => client.getBlock({ blockTag })),
      )
      assertEach(numbers, (block) => block.number, [5n, 4n, 3n])
    }),
  )

  live("mines by its heartbeat, and a transaction at once", () =>
    withChain({ heartbeatMs: 200 }, function* (chain, client) {
      yield* chain.fund(payer, 1n)
      const before = yield* Effect.promise(() => client.getBlockNumber({ cacheTime: 0 }))
      yield* Effect.promise(() => client.getBlockNumber({ cacheTime: 0 })).pipe(
        until("no block comes", (number) => number >= before + 3n),
      )
    }),
  )

  live("keeps balances, receipts and used nonces over a restart, and leaves no process", function* () {
    const stateFile = join(newFolder(), "chain.json")
    const nonce = `0x${"ab".repeat(32)}` as const
    const before = yield* withChain({ stateFile }, function* (chain, client) {
      const account = privateKeyToAccount(Redacted.value(chain.relayerKey))
      yield* Effect.promise(() => submitCancel(client, chain, account, nonce))
      const { balanceAtomic, transaction } = yield* chain.fund(payer, 7n)
      assert.strictEqual(balanceAtomic, 7n)
      return { pid: pidOf(stateFile), transaction, authorizer: account.address }
    })
    assert.strictEqual(isAlive(before.pid), false)
    yield* withChain({ stateFile }, function* (chain, client) {
      const receipt = yield* Effect.promise(() => client.getTransactionReceipt({ hash: before.transaction }))
      assert.strictEqual(receipt.status, "success")
      const used = yield* Effect.promise(() =>
        client.readContract({
          address: chain.asset,
          abi: token,
          functionName: "authorizationState",
          args: [before.authorizer, nonce],
        }),
      )
      assert.strictEqual(used, true)
      assert.strictEqual((yield* chain.fund(payer, 1n)).balanceAtomic, 8n)
    })
  })

  live("ends another chain on its state file, but no other program with that process id", function* () {
    const stateFile = join(newFolder(), "chain.json")
    yield* withChain({ stateFile }, function* (first) {
      const pid = pidOf(stateFile)
      yield* first.fund(payer, 7n)
      yield* withChain({ stateFile }, function* (second) {
        assert.strictEqual(isAlive(pid), false)
        assert.strictEqual((yield* second.fund(payer, 1n)).balanceAtomic, 8n)
      })
    })
    writeFileSync(`${stateFile}.pid`, String(process.pid))
    yield* withChain({ stateFile }, function* (chain) {
      yield* chain.mine
    })
  })
})
