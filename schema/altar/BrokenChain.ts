/** The answer in place of a link that no longer verifies. */
import { Schema } from "effect"
import { Position } from "../Fields.ts"
import { at, envelope, nothingNow } from "../Refusal.ts"

const faultAt = (place: string, what: string) =>
  `The chain is broken at ${place}: ${what}. It differs from its record, so it is not served. The operator is alarmed.`

const remedy = "Do not rely on it or on later links."

/** Returns the message: the place, the fault and its meaning. */
export const brokenAt = (place: string, what: string) => `${faultAt(place, what)} ${remedy} ${nothingNow}`

export class BrokenChain extends Schema.Error<BrokenChain>("BrokenChain")(
  {
    ...envelope("chain_broken", faultAt("stone 3", "witness stone 3 does not hash to its chainHash"), remedy),
    sequence: Position.annotateKey({ description: "The first broken link.", examples: [3] }),
  },
  at(500, "A link of the chain no longer hashes or follows; it is not served."),
) {}
