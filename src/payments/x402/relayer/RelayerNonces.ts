/** The relayer's next nonce, from the node's count and from this process's broadcasts. */
import { Clock, Effect } from "effect"
import type { Hex } from "viem"
import type { Address } from "../../../../schema/Common.ts"
import { BoundedMap } from "../../../platform/BoundedMap.ts"
import type { RelayerNode } from "./RelayerNode.ts"

interface Sent {
  readonly hash: Hex
  readonly atMillis: number
}

/** Milliseconds for which our own count outweighs that of a node that does not know our transaction. */
const believedFor = 2_000

/** Remembered nonces, more than a reorganisation can free. */
const remembered = 512

export const make = (node: RelayerNode, address: Address) => {
  /** Broadcasts by nonce. The newest nonce follows all others. */
  const sentUnder = new BoundedMap<number, Sent>(remembered)
  let newest = -1

  /**
   * The node may lag behind our last broadcast, or not count pending ones. If the transaction at the nonce it reports
   * as free was lost, later ones wait until that nonce is used again.
   */
  const next = Effect.gen(function* () {
    const free = yield* node.nonce(address)
    if (newest < free) return free
    const there = sentUnder.get(free)
    const { atMillis } = there ?? sentUnder.get(newest) ?? { atMillis: 0 }
    const isRecent = (yield* Clock.currentTimeMillis) - atMillis < believedFor
    const isTaken = isRecent || (there !== undefined && (yield* node.transaction(there.hash)) !== null)
    return isTaken ? newest + 1 : free
  })

  const sent = (nonce: number, hash: Hex) =>
    Effect.map(Clock.currentTimeMillis, (atMillis) => {
      sentUnder.set(nonce, { hash, atMillis })
      newest = Math.max(newest, nonce)
    })

  const forget = Effect.sync(() => {
    sentUnder.clear()
    newest = -1
  })

  return { next, sent, forget }
}

export type RelayerNonces = ReturnType<typeof make>
