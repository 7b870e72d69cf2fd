/** The store of paid attempts: claimed once, ended once, answered with the same bytes for ever. */
import { Layer } from "effect"
import { Claim } from "./Claim.ts"
import { Fail } from "./Fail.ts"
import { Lookup } from "./Lookup.ts"
import { Refunds } from "./Refunds.ts"
import { Selling } from "../Availability.ts"
import { Settle } from "./Settle.ts"
import { Settled } from "./Settled.ts"
import { Sweep } from "./Due.ts"
import { UnmatchedPayments } from "./Unmatched.ts"

export const layer = Layer.mergeAll(
  Claim.layer,
  Selling.layer,
  Settle.layer,
  Fail.layer,
  Sweep.layer,
  Settled.layer,
  Refunds.layer,
).pipe(Layer.provideMerge(Layer.merge(Lookup.layer, UnmatchedPayments.layer)))
