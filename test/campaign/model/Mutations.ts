/** Each deliberate fault, and the world in which somebody has to notice it. */
import { large, small } from "./Configurations.ts"
import type { Configuration, Fault } from "./State.ts"

const worlds: Readonly<Record<Fault, Configuration>> = {
  "one look is enough": small.facilitator,
  "claim after network": small.oneKey,
  "a reverted receipt fails": small.oneKey,
  "time alone fails": small.oneKey,
  "the newest block judges the end": small.oneKey,
  "a cancellation need not be final": small.cancelled,
  "a used log is a payment": small.cancelled,
  "claims are kept": small.oneKey,
  "the authorization is not claimed": large.twoKeys,
  "final without looking": small.behind,
  "two nodes make it final": small.behind,
  "an early look makes it final": small.oneKey,
  "what was taken back is pending again": small.oneKey,
  "what was taken back is sent in another place": small.resent,
  "one look loses": small.split,
  "402 while pending": large.anew,
  "settle without compare": small.oneKey,
  "fail without compare": small.oneKey,
  "unsent without compare": small.oneKey,
  "unheard without compare": small.unheard,
  "a note asks nobody": small.oneKey,
  "a note keeps the doubt": small.poor,
  "sent before noted": small.oneKey,
  "a second nonce": large.replaced,
  "a note does not name the one before": large.replaced,
  "the search begins at the head": small.oneKey,
  "a refusal is believed": small.facilitator,
  "a group is noted for its first": large.group,
  "a group is sent without those it lost": large.group,
  "a group's receipt pays for all": small.group,
  "what fails in a group is over": small.group,
  "too poor before it is final": small.emptied,
  "too poor though it was sent again": large.emptiedGroup,
  "nobody looks for what pays late": small.refilled,
  "a revert past the end agrees": { ...small.facilitator, adversary: { ...small.behind.adversary, lags: false } },
}

export const mutants: ReadonlyArray<Configuration & { readonly fault: Fault }> = (
  Object.entries(worlds) as ReadonlyArray<readonly [Fault, Configuration]>
).map(([fault, world]) => ({ ...world, fault }))
