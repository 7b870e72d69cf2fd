/** Every hash is computed again here, and what does not hold is named: nothing the server says of itself is believed. */
import { type ChainLink, chainLinkText, genesisHash } from "../../schema/altar/ChainLink.ts"
import { commitmentText } from "../../schema/altar/Recipe.ts"
import { sha256 } from "./Seal.ts"

/** A stone or chain entry, as the altar serves it. */
export interface Link extends ChainLink {
  readonly chainHash: string
}

/** A point of the chain: the hash after the stone with this sequence; sequence 0 is the genesis. */
export interface Head {
  readonly sequence: number
  readonly chainHash: string
}

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
export const verifyStone = (
  stone: Link,
  sealed?: { readonly salt: string; readonly words: string },
): Promise<{ readonly ok: true } | Broken> => {
  const broken = (reason: string): Broken => ({ ok: false, sequence: stone.sequence, reason })
  return Promise.all([
    sha256(chainLinkText(stone)),
    sealed === undefined ? stone.commitment : sha256(commitmentText(sealed.salt, sealed.words)),
  ]).then(([chainHash, commitment]) =>
    chainHash !== stone.chainHash
      ? broken(`its parts hash to ${chainHash}, but it says ${stone.chainHash}`)
      : commitment !== stone.commitment
        ? broken(`salt and words seal to ${commitment}, but it holds ${stone.commitment}`)
        : { ok: true },
  )
}

const genesis: Head = { sequence: 0, chainHash: genesisHash }

const misplaced = (link: Link, before: Head): string | undefined =>
  link.sequence !== before.sequence + 1
    ? `it stands where stone ${before.sequence + 1} should`
    : link.previousHash !== before.chainHash
      ? `it follows ${link.previousHash}, but stone ${before.sequence} has ${before.chainHash}`
      : undefined

/**
 * Whether every link of a segment hashes and follows the one before, beginning at `anchor`: a head you kept from an
 * earlier segment. Without one the segment's own anchor is taken, and the genesis is 64 zeros whatever it says.
 * The head it ends at is the anchor of the next segment.
 */
export const verifySegment = (
  segment: Segment,
  anchor?: Head,
): Promise<{ readonly ok: true; readonly links: number; readonly head: Head } | Broken> => {
  const start = anchor ?? (segment.anchor.sequence === 0 ? genesis : segment.anchor)
  const last: Head = segment.entries.at(-1) ?? start
  return Promise.all(segment.entries.map((link) => verifyStone(link))).then((verdicts) => {
    for (const [index, link] of segment.entries.entries()) {
      const wrong = misplaced(link, segment.entries[index - 1] ?? start)
      if (wrong !== undefined) return { ok: false, sequence: link.sequence, reason: wrong }
      const verdict = verdicts[index]
      if (verdict !== undefined && !verdict.ok) return verdict
    }
    const isEnd = segment.next === null
    const { chainHash, sequence } = segment.head
    if (isEnd && (sequence !== last.sequence || chainHash !== last.chainHash))
      return { ok: false, sequence: last.sequence + 1, reason: `the head is stone ${sequence}, ${chainHash}` }
    return { ok: true, links: segment.entries.length, head: { sequence: last.sequence, chainHash: last.chainHash } }
  })
}
