/** A chain of a phase's own: wallets with play money, blocks every two seconds, and branches that are given up. */
import { Effect, Exit, Layer, Redacted, Scope } from "effect"
import { createTestClient, type Hex, http, parseAbi, parseEther, publicActions, walletActions } from "viem"
import { privateKeyToAccount } from "viem/accounts"
import { LocalChain } from "../../src/sandbox/LocalChain.ts"
import type { Random } from "./Random.ts"
import { reorganiser } from "./Reorganisations.ts"

export const network = "eip155:84532"
export const blockSeconds = 2

export const token = parseAbi([
  "function mint(address to, uint256 amount) returns (bool)",
  "function balanceOf(address account) view returns (uint256)",
  "function transfer(address to, uint256 value) returns (bool)",
  "function cancelAuthorization(address authorizer, bytes32 nonce, bytes signature)",
  "function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)",
])

export type Wallet = ReturnType<typeof privateKeyToAccount>

// Accounts of the public test mnemonic: anvil signs for them.
export const stranger: Hex = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266" // account 0
export const facilitatorAccount: Hex = "0x976EA74026E726554dB657fA54763abd0C3a0aa9" // account 6

export const clientOf = (rpcUrl: string) =>
  createTestClient({ mode: "anvil", transport: http(rpcUrl, { retryCount: 0 }), pollingInterval: 100 })
    .extend(publicActions)
    .extend(walletActions)

export interface Chain {
  readonly rpcUrl: string
  readonly asset: Hex
  readonly payTo: Hex
  readonly chainId: number
  readonly relayerKey: string
  readonly client: ReturnType<typeof clientOf>
  /** Seconds since 1970, of its newest block. */
  readonly now: () => Promise<number>
  /** From now on its blocks are so many seconds later. */
  readonly shift: (seconds: number) => Promise<void>
  /** Others take the place of the newest blocks, none of them final; answers what was in them, the newest block's first. */
  readonly reorganise: (blocks: number) => Promise<ReadonlyArray<Hex>>
  readonly mine: (blocks: number) => Promise<void>
  readonly close: () => Promise<void>
}

/** Wallets that are the same whenever the seed is. */
export const walletsOf = (random: Random, count: number): ReadonlyArray<Wallet> =>
  Array.from({ length: count }, () => privateKeyToAccount(`0x${random.hex(32)}`))

export const chain = async (wallets: ReadonlyArray<Wallet>, fundsAtomic: bigint): Promise<Chain> => {
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
    now: async () => Number((await client.getBlock()).timestamp),
    shift: async (seconds) => {
      await client.increaseTime({ seconds })
      await client.mine({ blocks: 1 })
    },
    reorganise: reorganiser(client, blockSeconds),
    mine: (blocks) => client.mine({ blocks }),
    close: () => Effect.runPromise(Scope.close(scope, Exit.void)),
  }
}
