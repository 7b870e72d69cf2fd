/** A chain of a phase's own: wallets with play money, blocks every two seconds, and branches that are given up. */
import { Effect, Exit, Layer, Redacted, Scope } from "effect"
import { createTestClient, http, parseEther, publicActions, walletActions } from "viem"
import { privateKeyToAccount } from "viem/accounts"
import { LocalChain } from "../../src/sandbox/LocalChain.ts"
import { facilitatorAccount, network, stranger } from "./Chain.ts"
import type { Random } from "./Random.ts"
import { reorganiser } from "./Reorganisations.ts"

export const blockSeconds = 2

export type Wallet = ReturnType<typeof privateKeyToAccount>

export const clientOf = (rpcUrl: string) =>
  createTestClient({ mode: "anvil", transport: http(rpcUrl, { retryCount: 0 }), pollingInterval: 100 })
    .extend(publicActions)
    .extend(walletActions)

export type Chain = Awaited<ReturnType<typeof chain>>

/** Wallets that are the same whenever the seed is. */
export const walletsOf = (random: Random, count: number): ReadonlyArray<Wallet> =>
  Array.from({ length: count }, () => privateKeyToAccount(`0x${random.hex(32)}`))

export const chain = async (wallets: ReadonlyArray<Wallet>, fundsAtomic: bigint) => {
  const scope = Scope.makeUnsafe()
  const started = Layer.build(LocalChain.layer({ network })).pipe(
    Effect.flatMap((context) => Effect.provideContext(LocalChain, context)),
    Scope.provide(scope),
  )
  const { asset, chainId, fund, payTo, relayerKey, rpcUrl } = await Effect.runPromise(started)
  const client = clientOf(rpcUrl)
  for (const { address } of wallets) await Effect.runPromise(fund(address, fundsAtomic))
  for (const account of [stranger, facilitatorAccount]) {
    await client.setBalance({ address: account, value: parseEther("10000") })
  }
  await client.setIntervalMining({ interval: blockSeconds })
  return {
    rpcUrl,
    asset,
    payTo,
    chainId,
    relayerKey: Redacted.value(relayerKey),
    client,
    /** Seconds since 1970, of its newest block. */
    now: async () => Number((await client.getBlock()).timestamp),
    /** From now on its blocks are so many seconds later. */
    shift: async (seconds: number) => {
      await client.increaseTime({ seconds })
      await client.mine({ blocks: 1 })
    },
    /** Others take the place of the newest blocks, none of them final; answers what was in them, the newest block's first. */
    reorganise: reorganiser(client, blockSeconds),
    mine: (blocks: number) => client.mine({ blocks }),
    close: () => Effect.runPromise(Scope.close(scope, Exit.void)),
  }
}
