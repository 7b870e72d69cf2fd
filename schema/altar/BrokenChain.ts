/** The answer in place of a link that no longer verifies. */
import { Schema } from "effect"
import { Position } from "../Fields.ts"
import { at, envelope } from "../Refusal.ts"

/** Returns the message: the place, the fault and its meaning. */
export const brokenAt = (place: string, what: string) =>
  `The chain is broken at ${place}: ${what}. It is not served, because it is not what was recorded; the operator is alarmed. Do not rely on it or on what follows. This request charged nothing.`

export class BrokenChain extends Schema.Error<BrokenChain>("BrokenChain")(
  {
    ...envelope("chain_broken", brokenAt("stone 3", "witness stone 3 does not hash to its chainHash")),
    sequence: Position.annotate({ description: "The first link that does not hold.", examples: [3] }),
  },
  at(500, "A link of the chain no longer hashes or follows; it is not served."),
) {}
