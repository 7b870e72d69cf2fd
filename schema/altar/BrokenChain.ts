/** The answer in place of a link that no longer verifies. */
import { Schema } from "effect"
import { Position } from "../Fields.ts"
import { at, envelope } from "../Refusal.ts"

/** Returns the message: the place, the fault and its meaning. */
export const brokenAt = (place: string, what: string) =>
  `The chain is broken at ${place}: ${what}. It differs from its record, so it is not served. The operator is alarmed. Do not rely on it or on later links. This request charged nothing.`

export class BrokenChain extends Schema.Error<BrokenChain>("BrokenChain")(
  {
    ...envelope("chain_broken", brokenAt("stone 3", "witness stone 3 does not hash to its chainHash")),
    sequence: Position.annotate({ description: "The first broken link.", examples: [3] }),
  },
  at(500, "A link of the chain no longer hashes or follows; it is not served."),
) {}
