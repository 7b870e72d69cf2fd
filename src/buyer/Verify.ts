/** Every hash is computed again here, and what does not hold is named: nothing the server says of itself is believed. */
import { type ChainPoint, checkLink, genesis, headFault, linkFault } from "../../schema/altar/ChainCheck.ts"
import { chainHashOf, checkLinks, type Link } from "./core/Chain.ts"
import { commitmentOf } from "./core/Commitment.ts"

export type { Link }

/** A point of the chain: the hash after the stone with this sequence; sequence 0 is the genesis. */
export type Head = ChainPoint

/** `GET /api/witness/chain`. */
export interface Segment {
  readonly anchor: Head
  readonly entries: ReadonlyArray<Link>
  readonly head: Head
  readonly next: number | null
}

export type Broken = {
  readonly ok: false
  /** Of the first stone that does not hold. */
  readonly sequence: number
  readonly reason: string
}

/**
 * Whether a stone's chain hash is that of its own parts and, with salt and words, whether they are what it sealed.
 * It proves the link, not its place: for that, verify the segment it stands in.
 */
export const verifyStone = async (
  stone: Link,
  sealed?: { readonly salt: string; readonly words: string },
): Promise<{ readonly ok: true } | Broken> => {
  const { commitment, previousHash, sequence } = stone
  // Alone it is taken to stand where it says.
  const before = { sequence: sequence - 1, chainHash: previousHash }
  const fault = linkFault(checkLink(stone, before, await chainHashOf(stone)))
  if (fault !== undefined) return { ok: false, sequence, reason: fault.detail }
  const computed = sealed === undefined ? commitment : await commitmentOf(sealed.salt, sealed.words)
  return computed === commitment
    ? { ok: true }
    : { ok: false, sequence, reason: `salt and words seal to ${computed}, but it holds ${commitment}` }
}

/**
 * Whether every link of a segment hashes and follows the one before, beginning at `anchor`: a head you kept from an
 * earlier segment. Without one the segment's own anchor is taken, and the genesis is 64 zeros whatever it says.
 * The head it ends at is the anchor of the next segment.
 */
export const verifySegment = async (
  { anchor: named, entries, head, next }: Segment,
  anchor?: Head,
): Promise<{ readonly ok: true; readonly links: number; readonly head: Head } | Broken> => {
  const start = anchor ?? (named.sequence === 0 ? genesis : named)
  const { chainHash, sequence } = entries.at(-1) ?? start
  const last: Head = { sequence, chainHash }
  const checks = await checkLinks(entries, start)
  const fault =
    checks.map(linkFault).find((found) => found !== undefined) ?? (next === null ? headFault(head, last) : undefined)
  return fault === undefined
    ? { ok: true, links: entries.length, head: last }
    : { ok: false, sequence: fault.sequence, reason: fault.detail }
}
