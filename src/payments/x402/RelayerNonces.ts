/** The relayer's next nonce, by the node's count and by what this process sent last. */
import { Clock, Effect, Ref } from "effect"
import { type Hex, hexToNumber } from "viem"
import type { Address } from "../../../schema/Common.ts"
import type { RelayerNode } from "./RelayerNode.ts"

/** What the node was sent last. */
interface Last {
  readonly nonce: number
  readonly hash: Hex | undefined
  readonly atMillis: number
}

const never: Last = { nonce: -1, hash: undefined, atMillis: 0 }

/** Milliseconds for which our own count of nonces outweighs that of a node that does not know our last transaction. */
const believedFor = 2_000

export const make = (node: RelayerNode, address: Address) => {
  const last = Ref.makeUnsafe(never)

  const isKnown = (hash: Hex | undefined) =>
    hash === undefined ? Effect.succeed(false) : Effect.map(node.transaction(hash), (found) => found !== null)

  /** The node may lag behind our own last broadcast for a moment, or may have dropped it: then its count is right. */
  const next = Effect.gen(function* () {
    const pending = yield* node.call((client) =>
      client.request({ method: "eth_getTransactionCount", params: [address, "pending"] }).then(hexToNumber),
    )
    const sent = yield* Ref.get(last)
    if (pending > sent.nonce) return pending
    const recent = (yield* Clock.currentTimeMillis) - sent.atMillis < believedFor
    return recent || (yield* isKnown(sent.hash)) ? sent.nonce + 1 : pending
  })

  /** A replacement stands in an earlier place: what was sent last is the one behind all others. */
  const sent = (nonce: number, hash: Hex) =>
    Effect.flatMap(Clock.currentTimeMillis, (atMillis) =>
      Ref.update(last, (before) => (nonce < before.nonce ? before : { nonce, hash, atMillis })),
    )

  return { next, sent, forget: Ref.set(last, never) }
}

export type RelayerNonces = ReturnType<typeof make>
