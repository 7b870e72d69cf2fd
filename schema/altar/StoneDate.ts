/** When a stone was sealed at the latest, and who says so. */
import { Schema } from "effect"
import { Timestamp } from "../Common.ts"
import { Position, sentence } from "../Fields.ts"
import { networkName } from "../payments/Usdc.ts"

export const StoneDate = Schema.Struct({
  block: Schema.NullOr(Position),
  time: Schema.NullOr(Timestamp),
  says: sentence("Sealed at the latest on 21 November 2026, 09:17:01 UTC: Base block 1."),
}).annotate({
  identifier: "StoneDate",
  description: "The block whose transfer names the sealed words, or null.",
})

/** A block that holds a payment; `time` in seconds since 1970. */
export interface PaidBlock {
  readonly network: string
  readonly block: number
  readonly time: number
}

/** The sentence about a stone whose payment names its words. */
export const sealedBy = ({ block, network, time }: PaidBlock): string => {
  const at = new Date(time * 1000)
  const day = at.toLocaleDateString("en-GB", { day: "numeric", month: "long", year: "numeric", timeZone: "UTC" })
  const [name = network] = networkName(network).split(",")
  return `Sealed at the latest on ${day}, ${at.toISOString().slice(11, 19)} UTC: ${name} block ${block}.`
}

/** The same while the block may still change, or its time is not stored yet. */
export const notFinal = "The payment names the sealed words. Its block dates them once it is final."

export const lost = "The payment was lost with its block, so no block dates the sealed words."

/** The sentence about a stone whose payment names nothing. */
export const unnamed =
  "The payment does not name the sealed words, so its block dates the payment alone. The time of the stone is the word of this altar's chain and of the cosigners of its log."

/** The date of a stone by its payment. */
export const dateOf = (payment: {
  readonly isNamed: boolean
  readonly isLost: boolean
  readonly block: PaidBlock | undefined
}): typeof StoneDate.Type => {
  const { block, isLost, isNamed } = payment
  if (!isNamed || isLost || block === undefined)
    return { block: null, time: null, says: !isNamed ? unnamed : isLost ? lost : notFinal }
  return { block: block.block, time: new Date(block.time * 1000).toISOString(), says: sealedBy(block) }
}
