/** A chain of a phase's own: wallets with play money, blocks every two seconds, and branches that are given up. */
import { Effect, Redacted } from "effect"
import { type Hex, parseEther } from "viem"
import { privateKeyToAccount } from "viem/accounts"
import { LocalChain } from "../../src/sandbox/LocalChain.ts"
import { chainClient, facilitatorAccount, network, stranger } from "./Chain.ts"
import type { Random } from "./Random.ts"
import { started } from "./Databases.ts"

const blockSeconds = 2

export type Wallet = ReturnType<typeof privateKeyToAccount>

/** The campaign did what no real chain does, so its findings prove nothing about the servers. */
export class CampaignFault extends Error {}

/** The same wallets for the same seed. */
export const walletsOf = (random: Random, count: number): ReadonlyArray<Wallet> =>
  Array.from({ length: count }, () => privateKeyToAccount(`0x${random.hex(32)}`))

/** Takes so many of the newest blocks back, fewer where they are final; answers what was in them, the newest block's first. */
const reorganiser = (client: ReturnType<typeof chainClient>) => {
  /** No other caller makes blocks at the same time. */
  const swap = async (blocks: number): Promise<ReadonlyArray<Hex>> => {
    const latest = await client.getBlock()
    const final = await client.getBlock({ blockTag: "finalized" })
    const depth = Math.min(blocks, Number(latest.number - final.number))
    const taken: Array<Hex> = []
    for (let number = latest.number; number > latest.number - BigInt(depth); number -= 1n) {
      taken.push(...(await client.getBlock({ blockNumber: number })).transactions)
    }
    await client.request({ method: "anvil_rollback", params: [depth] } as never)
    // Another branch is longer: its blocks are there at once.
    await client.mine({ blocks: depth })
    const now = await client.getBlock({ blockNumber: final.number }).catch(() => undefined)
    if (now?.hash === final.hash) return taken
    throw new CampaignFault(
      `the final block ${final.number} was ${final.hash} and is ${now?.hash ?? "gone"} after ${depth} blocks were taken back`,
    )
  }

  let turn: Promise<unknown> = Promise.resolve()
  /** One at a time: two at once would orphan more than either, and final blocks with it. */
  return (blocks: number): Promise<ReadonlyArray<Hex>> => {
    const mine = turn.then(async () => {
      await client.setIntervalMining({ interval: 0 })
      return swap(blocks).finally(() => client.setIntervalMining({ interval: blockSeconds }))
    })
    turn = mine.catch(() => {})
    return mine
  }
}

export const chain = async (wallets: ReadonlyArray<Wallet>, fundsAtomic: bigint) => {
  const { close, service } = await started(LocalChain, LocalChain.layer({ network }))
  const client = chainClient(service.rpcUrl)
  for (const { address } of wallets) await Effect.runPromise(service.fund(address, fundsAtomic))
  for (const address of [stranger, facilitatorAccount]) await client.setBalance({ address, value: parseEther("10000") })
  await client.setIntervalMining({ interval: blockSeconds })
  return {
    ...service,
    relayerKey: Redacted.value(service.relayerKey),
    client,
    /** Seconds since 1970, of its newest block. */
    now: async () => Number((await client.getBlock()).timestamp),
    /** From now on its blocks are so many seconds later. */
    shift: async (seconds: number) => {
      await client.increaseTime({ seconds })
      await client.mine({ blocks: 1 })
    },
    /** Others take the place of the newest blocks, none of them final; answers what was in them, the newest block's first. */
    reorganise: reorganiser(client),
    mine: (blocks: number) => client.mine({ blocks }),
    close,
  }
}
