/** The rules of a valid chain and their messages; server, command, library and page each bring their own hashing. */
import { genesisHash } from "./ChainLink.ts"

/** A point of the chain: the hash after the link with this sequence; sequence 0 is the genesis. */
export interface ChainPoint {
  readonly sequence: number
  readonly chainHash: string
}

/** The fixed point before the first link. */
export const genesis: ChainPoint = { sequence: 0, chainHash: genesisHash }

/** The claims of a link of any chain: its sequence, its predecessor's hash and its own hash. */
export interface ChainClaim extends ChainPoint {
  readonly previousHash: string
}

export interface LinkCheck<Link extends ChainClaim = ChainClaim> {
  readonly link: Link
  readonly before: ChainPoint
  /** The hash of the link's parts, recomputed. */
  readonly computed: string
  /** Whether the link's sequence and `previousHash` follow `before`. */
  readonly follows: boolean
  /** Whether the link claims the computed hash. */
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
  /** The first link that does not verify. */
  readonly sequence: number
  /** A few words. */
  readonly summary: string
  /** A sentence with both values. */
  readonly detail: string
}

/** Returns the fault of a link; undefined when it verifies. */
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

/** Returns the fault of the place where a server says that the chain goes on after `last`; undefined without one. */
export const nextFault = (from: number, next: number, last: ChainPoint): ChainFault | undefined =>
  next > from && next === last.sequence + 1
    ? undefined
    : {
        sequence: last.sequence + 1,
        summary: `asked for the links from ${from} on, the server showed those to ${last.sequence} and says that the next are those from ${next}: so its chain would never end`,
        detail: `the links from ${from} to ${last.sequence} came, and the next are said to be those from ${next}`,
      }

/** Returns the fault of a claimed head; undefined when it is `last`, the last link. */
export const headFault = (head: ChainPoint, last: ChainPoint): ChainFault | undefined =>
  head.sequence === last.sequence && head.chainHash === last.chainHash
    ? undefined
    : {
        sequence: last.sequence + 1,
        summary: "the head is not the last link",
        detail: `the head is stone ${head.sequence}, ${head.chainHash}`,
      }
