/** What an answer of the node is read as; one that does not have its form is none. */
import { Effect, Schema } from "effect"
import { type Hex, hexToBigInt } from "viem"
import type { Address } from "../../../../schema/Common.ts"
import { Word } from "../../Hex.ts"
import { type ChainUnavailable, senseless } from "./ChainUnavailable.ts"
import { balanceData } from "../verification/Eip3009.ts"
import type { Ask } from "./JsonRpc.ts"

/** Who asked the same together has the same answer, and a receipt is as long as its group: it is read once for all of them. */
export const reader = <S extends Schema.Decoder<unknown>>(method: string, schema: S) => {
  const decode = Schema.decodeUnknownEffect(schema)
  const known = new WeakMap<object, S["Type"]>()
  return (answer: unknown): Effect.Effect<S["Type"], ChainUnavailable> => {
    const shared = typeof answer === "object" && answer !== null ? answer : undefined
    const before = shared && known.get(shared)
    if (before !== undefined) return Effect.succeed(before)
    return Effect.mapBoth(decode(answer), {
      onFailure: () => senseless(method),
      onSuccess: (read) => {
        if (shared !== undefined) known.set(shared, read)
        return read
      },
    })
  }
}

const readWord = reader("eth_call", Word)

/** Atomic units of `asset` that `owner` holds at a block. */
export const balanceOf = (ask: Ask, asset: Address, owner: Address, block: Hex | "latest") =>
  ask("eth_call", [{ to: asset, data: balanceData(owner) }, block]).pipe(
    Effect.flatMap(readWord),
    Effect.map(hexToBigInt),
  )
