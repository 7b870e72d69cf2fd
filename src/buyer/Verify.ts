/** Recomputes every hash of an altar's answers and names the first fault; trusts no statement of the server. */
import { type ChainPoint, checkLink, genesis, linkFault } from "../../schema/altar/ChainCheck.ts"
import { chainHashOf, checkSegment, type Link, type Segment } from "./core/Chain.ts"
import { checkReveal, commitmentOf } from "./core/Commitment.ts"

export type { Link, Segment }

/** A point of the chain: the hash after the stone with this sequence; sequence 0 is the genesis. */
export type Head = ChainPoint

export type Broken = {
  readonly ok: false
  /** The first stone that does not verify. */
  readonly sequence: number
  readonly reason: string
}

/** Revealed words as an altar shows them: `text` of a stone, `words` of a candle; null while they are hidden. */
export type Revealed = { readonly salt?: string | null } & (
  | { readonly text: string | null; readonly words?: never }
  | { readonly words: string | null; readonly text?: never }
)

/**
 * Whether revealed words and their salt hash to the commitment. Pass `stone.commitment` and `stone.reveal`, or
 * `candle.intentionCommitment` and `candle.unsealed`. Words that are sealed or hidden pass.
 */
export const verifyReveal = async (
  commitment: string | null,
  revealed: Revealed | null,
): Promise<{ readonly ok: true } | { readonly ok: false; readonly reason: string }> => {
  const shown = { text: revealed?.text ?? revealed?.words ?? null, salt: revealed?.salt ?? null }
  const fault = await checkReveal(commitment, shown)
  return fault === undefined ? { ok: true } : { ok: false, reason: fault.detail }
}

/**
 * Whether a stone's chain hash is that of its parts, whether its revealed words match its commitment and, given salt
 * and words, whether these do. It proves the link, not its place: for that, verify its segment.
 */
export const verifyStone = async (
  stone: Link & { readonly reveal?: Revealed | null },
  sealed?: { readonly salt: string; readonly words: string },
): Promise<{ readonly ok: true } | Broken> => {
  const { commitment, previousHash, sequence } = stone
  // A single stone is checked at the place it claims.
  const before = { sequence: sequence - 1, chainHash: previousHash }
  const fault = linkFault(checkLink(stone, before, await chainHashOf(stone)))
  if (fault !== undefined) return { ok: false, sequence, reason: fault.detail }
  const shown = await verifyReveal(commitment, stone.reveal ?? null)
  if (!shown.ok) return { ok: false, sequence, reason: shown.reason }
  const computed = sealed === undefined ? commitment : await commitmentOf(sealed.salt, sealed.words)
  return computed === commitment
    ? { ok: true }
    : { ok: false, sequence, reason: `salt and words seal to ${computed}, but it holds ${commitment}` }
}

/**
 * Whether every link of a segment hashes and follows the one before, beginning at `anchor`: a head you kept from an
 * earlier segment. Without one, the segment's own anchor is used; at sequence 0 that is always the genesis of 64 zeros.
 * The head it ends at is the anchor of the next segment.
 */
export const verifySegment = async (
  segment: Segment,
  anchor?: Head,
): Promise<{ readonly ok: true; readonly links: number; readonly head: Head } | Broken> => {
  const start = anchor ?? (segment.anchor.sequence === 0 ? genesis : segment.anchor)
  const { checks, end, last } = await checkSegment(segment, start)
  const fault = checks.map(linkFault).find((found) => found !== undefined) ?? end
  return fault === undefined
    ? { ok: true, links: checks.length, head: last }
    : { ok: false, sequence: fault.sequence, reason: fault.detail }
}
