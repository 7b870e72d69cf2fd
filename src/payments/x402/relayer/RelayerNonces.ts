/** The relayer's next nonce, by the node's count and by what this process sent. */
import { Clock, Effect } from "effect"
import type { Hex } from "viem"
import type { Address } from "../../../../schema/Common.ts"
import { BoundedMap } from "../../../platform/BoundedMap.ts"
import type { RelayerNode } from "./RelayerNode.ts"

/** What the node was sent under a nonce. */
interface Sent {
  readonly hash: Hex
  readonly atMillis: number
}

/** Milliseconds for which our own count of nonces outweighs that of a node that does not know our transaction. */
const believedFor = 2_000

/** How many places are remembered: more than a reorganisation can free. */
const remembered = 512

export const make = (node: RelayerNode, address: Address) => {
  /** What was sent, by its nonce; the newest nonce is the one behind all others. */
  const sentUnder = new BoundedMap<number, Sent>(remembered)
  let newest = -1

  /**
   * The node may lag behind our own last broadcast for a moment, or count no transaction before its block. Or what has the
   * place that it calls free is lost, in a reorganisation say: all later ones wait until that place is taken again.
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
