// The local chain is ready at once, keeps what it was told to keep, and leaves no process behind.
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { Effect, Redacted } from "effect"
import { mnemonicToAccount, privateKeyToAccount } from "viem/accounts"
import { LocalChain } from "../../src/sandbox/LocalChain.ts"
import { submitCancel } from "../lab/buyer/ThirdParty.ts"
import { chainClient, network, token } from "../lab/Chain.ts"
import { awaitGone, holdAndKill } from "./Holder.ts"
import { isAlive } from "../lab/Processes.ts"
import { until } from "../lab/Eventually.ts"
import { newFolder } from "../lab/Folders.ts"
import { assert, assertEach, describe, live } from "../lab/Suites.ts"

const payer = "0x00000000000000000000000000000000000000aa"
const pidOf = (stateFile: string) => Number(readFileSync(`${stateFile}.pid`, "utf8"))
const withChain = <A, E, R>(
  options: { readonly stateFile?: string; readonly heartbeatMs?: number },
  use: (chain: LocalChain["Service"]) => Effect.Effect<A, E, R>,
) => Effect.flatMap(LocalChain, use).pipe(Effect.provide(LocalChain.layer({ network, ...options }), { local: true }))

describe("LocalChain", () => {
  live("serves the network it names, with a relayer that can pay for gas", () =>
    withChain({}, (chain) =>
      Effect.gen(function* () {
        const client = chainClient(chain.rpcUrl)
        const mnemonic = "test test test test test test test test test test test junk"
        const account = (addressIndex: number) => mnemonicToAccount(mnemonic, { addressIndex }).address
        const relayer = privateKeyToAccount(Redacted.value(chain.relayerKey)).address
        assert.strictEqual(relayer, account(9))
        assert.strictEqual(chain.payTo, account(2))
        assert.strictEqual(yield* Effect.promise(() => client.getChainId()), 84532)
        const balance = yield* Effect.promise(() => client.getBalance({ address: relayer }))
        assert.isAtLeast(Number(balance / 10n ** 18n), 1000)
        assert.include(String(chain.relayerKey), "redacted")
      }),
    ),
  )

  live("answers at the safe and finalized blocks, one and two behind the head", () =>
    withChain({}, (chain) =>
      Effect.gen(function* () {
        const client = chainClient(chain.rpcUrl)
        yield* chain.fund(payer, 1n)
        yield* Effect.repeat(chain.mine, { times: 3 })
        const numbers = yield* Effect.forEach(["latest", "safe", "finalized"] as const, (blockTag) =>
          Effect.promise(() => client.getBlock({ blockTag })),
        )
        assertEach(numbers, (block) => block.number, [5n, 4n, 3n])
        const used = yield* Effect.promise(() =>
          client.readContract({
            address: chain.asset,
            abi: token,
            functionName: "authorizationState",
            args: [payer, `0x${"00".repeat(32)}`],
            blockTag: "finalized",
          }),
        )
        assert.strictEqual(used, false)
      }),
    ),
  )

  live("mines by its heartbeat, and a transaction at once", () =>
    withChain({ heartbeatMs: 200 }, (chain) =>
      Effect.gen(function* () {
        const client = chainClient(chain.rpcUrl)
        yield* chain.fund(payer, 1n)
        const before = yield* Effect.promise(() => client.getBlockNumber({ cacheTime: 0 }))
        yield* Effect.promise(() => client.getBlockNumber({ cacheTime: 0 })).pipe(
          until("no block comes", (number) => number >= before + 3n),
        )
      }),
    ),
  )

  live("keeps balances, receipts and used nonces over a restart, and leaves no process", function* () {
    const stateFile = join(newFolder(), "chain.json")
    const nonce = `0x${"ab".repeat(32)}` as const
    const used = (chain: LocalChain["Service"], authorizer: `0x${string}`) =>
      Effect.promise(() =>
        chainClient(chain.rpcUrl).readContract({
          address: chain.asset,
          abi: token,
          functionName: "authorizationState",
          args: [authorizer, nonce],
        }),
      )
    const before = yield* withChain({ stateFile }, (chain) =>
      Effect.gen(function* () {
        const account = privateKeyToAccount(Redacted.value(chain.relayerKey))
        yield* Effect.promise(() => submitCancel(chainClient(chain.rpcUrl), chain, account, nonce))
        const { balanceAtomic, transaction } = yield* chain.fund(payer, 7n)
        assert.strictEqual(balanceAtomic, 7n)
        assert.strictEqual(yield* used(chain, account.address), true)
        return { pid: pidOf(stateFile), transaction, authorizer: account.address }
      }),
    )
    assert.strictEqual(isAlive(before.pid), false)
    yield* withChain({ stateFile }, (chain) =>
      Effect.gen(function* () {
        const receipt = yield* Effect.promise(() =>
          chainClient(chain.rpcUrl).getTransactionReceipt({ hash: before.transaction }),
        )
        assert.strictEqual(receipt.status, "success")
        assert.strictEqual(yield* used(chain, before.authorizer), true)
        assert.strictEqual((yield* chain.fund(payer, 1n)).balanceAtomic, 8n)
      }),
    )
  })

  live("takes over the state file of a killed process", function* () {
    const stateFile = join(newFolder(), "chain.json")
    const orphan = yield* holdAndKill("chain", stateFile, pidOf)
    yield* withChain({ stateFile }, (chain) =>
      Effect.gen(function* () {
        assert.notStrictEqual(pidOf(stateFile), orphan)
        assert.strictEqual(isAlive(orphan), false)
        assert.strictEqual((yield* chain.fund(payer, 1n)).balanceAtomic, 8n)
      }),
    )
  })

  live("ends soon after the process that started it was killed", function* () {
    const stateFile = join(newFolder(), "chain.json")
    yield* awaitGone(yield* holdAndKill("chain", stateFile, pidOf))
  })

  live("ends another chain on its state file, but no other program with that process id", function* () {
    const stateFile = join(newFolder(), "chain.json")
    yield* withChain({ stateFile }, (first) =>
      Effect.gen(function* () {
        const pid = pidOf(stateFile)
        yield* first.fund(payer, 7n)
        yield* withChain({ stateFile }, (second) =>
          Effect.gen(function* () {
            assert.strictEqual(isAlive(pid), false)
            assert.strictEqual((yield* second.fund(payer, 1n)).balanceAtomic, 8n)
          }),
        )
      }),
    )
    writeFileSync(`${stateFile}.pid`, String(process.pid))
    yield* withChain({ stateFile }, (chain) => chain.mine)
  })
})
