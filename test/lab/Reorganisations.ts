/** Branches that are given up: the newest blocks of a chain make room for others, and what is final stays, as a chain promises. */
import type { Hex } from "viem"
import type { clientOf } from "./OwnChain.ts"

/** The campaign has done what no chain does: its findings prove nothing about the servers then. */
export class CampaignFault extends Error {}

/** Takes so many of the newest blocks back, fewer where they are final; answers what was in them, the newest block's first. */
export const reorganiser = (client: ReturnType<typeof clientOf>, blockSeconds: number) => {
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
