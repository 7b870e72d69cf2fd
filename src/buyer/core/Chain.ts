/** Hashes links of the witness chain and checks them by the contract's rules. */
import { type ChainPoint, checkLink, headFault, nextFault } from "../../../schema/altar/ChainCheck.ts"
import { type ChainLink, chainLinkText } from "../../../schema/altar/ChainLink.ts"
import { sha256 } from "./Digest.ts"

/** A stone or chain entry, as the altar serves it. */
export interface Link extends ChainLink {
  readonly chainHash: string
}

export const chainHashOf = (link: ChainLink): Promise<string> => sha256(chainLinkText(link))

/** `GET /api/witness/chain`. */
export interface Segment<L extends Link = Link> {
  readonly anchor: ChainPoint
  readonly entries: ReadonlyArray<L>
  readonly head: ChainPoint
  readonly next: number | null
}

/**
 * Checks every link against the one before it, the first against `start`; the check goes on after a fault. `end` is the
 * fault behind the last link: another head, or a chain that would never end.
 */
export const checkSegment = async <L extends Link>(
  { entries, head, next }: Omit<Segment<L>, "anchor">,
  start: ChainPoint,
) => {
  const checks = await Promise.all(
    entries.map((link, index) =>
      chainHashOf(link).then((computed) => checkLink(link, entries[index - 1] ?? start, computed)),
    ),
  )
  const { chainHash, sequence } = entries.at(-1) ?? start
  const last = { sequence, chainHash }
  const end = next === null ? headFault(head, last) : nextFault(start.sequence + 1, next, last)
  return { checks, end, last }
}
