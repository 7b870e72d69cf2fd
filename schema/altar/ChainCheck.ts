/** When a chain holds: one rule and one set of words for server, command, library and page; each brings its own hashing. */
import { genesisHash } from "./ChainLink.ts"

/** A point of the chain: the hash after the link with this sequence; sequence 0 is the genesis. */
export interface ChainPoint {
  readonly sequence: number
  readonly chainHash: string
}

/** What precedes the first link, whatever anybody says. */
export const genesis: ChainPoint = { sequence: 0, chainHash: genesisHash }

/** Of a link, whatever else it holds: its place, what it names as its predecessor, and the hash it claims. */
export interface ChainClaim extends ChainPoint {
  readonly previousHash: string
}

export interface LinkCheck<Link extends ChainClaim = ChainClaim> {
  readonly link: Link
  /** The point the link should follow. */
  readonly before: ChainPoint
  /** The hash of its parts, computed by whoever checks. */
  readonly computed: string
  /** Its number and the hash before it are those of the point before. */
  readonly follows: boolean
  /** The hash it claims is the computed one. */
  readonly hashes: boolean
}

export const checkLink = <Link extends ChainClaim>(
  link: Link,
  before: ChainPoint,
  computed: string,
): LinkCheck<Link> => ({
  link,
  before,
  computed,
  follows: link.sequence === before.sequence + 1 && link.previousHash === before.chainHash,
  hashes: link.chainHash === computed,
})

export const holds = ({ follows, hashes }: LinkCheck): boolean => follows && hashes

export interface ChainFault {
  /** Of the first link that does not hold. */
  readonly sequence: number
  /** In a few words. */
  readonly summary: string
  /** With both values, to compare. */
  readonly detail: string
}

/** What is wrong with a link; undefined when it holds. */
export const linkFault = ({ before, computed, follows, hashes, link }: LinkCheck): ChainFault | undefined => {
  const { chainHash, previousHash, sequence } = link
  if (sequence !== before.sequence + 1)
    return {
      sequence,
      summary: `follows ${before.sequence}`,
      detail: `it stands where stone ${before.sequence + 1} should`,
    }
  if (!follows)
    return {
      sequence,
      summary: "names another predecessor",
      detail: `it follows ${previousHash}, but stone ${before.sequence} has ${before.chainHash}`,
    }
  return hashes
    ? undefined
    : {
        sequence,
        summary: "does not hash to its chainHash",
        detail: `its parts hash to ${computed}, but it says ${chainHash}`,
      }
}

/** What is wrong with the head that is named, where `last` is the last link there is; undefined when it is that link. */
export const headFault = (head: ChainPoint, last: ChainPoint): ChainFault | undefined =>
  head.sequence === last.sequence && head.chainHash === last.chainHash
    ? undefined
    : {
        sequence: last.sequence + 1,
        summary: "the head is not the last link",
        detail: `the head is stone ${head.sequence}, ${head.chainHash}`,
      }
