/** The end of a hold: a payment in flight keeps its keeper record, prayer or edition from other buyers. */
import { Schema } from "effect"
import { Timestamp } from "../Common.ts"

/** Seconds after `validBefore` by which final blocks have passed it twice. Base needs 15 minutes and more. */
export const finalitySeconds = 1800

export const held = {
  heldUntil: Schema.optionalKey(Timestamp).annotateKey({
    description:
      "The latest time by which the payment in flight ends, while blocks become final within half an hour: it has bought this then, or this is free again.",
  }),
}
export type Held = Schema.Struct<typeof held>["Type"]
