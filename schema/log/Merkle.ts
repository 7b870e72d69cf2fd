/**
 * The Merkle tree of RFC 6962 §2.1: hash inputs and proof ranges, without the hashing. Servers hash synchronously and
 * browsers asynchronously, so the hash is a parameter.
 */
import { type Bytes, concat } from "./Bytes.ts"

export const hashSize = 32

/** Maximum hashes of an inclusion or consistency proof: one for each level of a tree of 2^63 leaves. */
export const maxProofHashes = 63

const leafPrefix = Uint8Array.of(0)
const nodePrefix = Uint8Array.of(1)

export const leafHash = <H>(hash: (bytes: Bytes) => H, entry: Uint8Array): H => hash(concat(leafPrefix, entry))

export const nodeHash = <H>(hash: (bytes: Bytes) => H, left: Uint8Array, right: Uint8Array): H =>
  hash(concat(nodePrefix, left, right))

/** Leaves from `from` up to but not including `to`. */
export interface Range {
  readonly from: number
  readonly to: number
}

/** The largest power of two below `size`, where a tree of more than one leaf is split. */
const split = (size: number) => {
  let left = 1
  while (left * 2 < size) left *= 2
  return left
}

/** The subtrees whose hashes prove that leaf `index` is in a tree of `size` leaves, the leaf's sibling first. */
export const inclusionRanges = (index: number, size: number): ReadonlyArray<Range> => {
  const ranges: Array<Range> = []
  let from = 0
  let to = size
  while (to - from > 1) {
    const middle = from + split(to - from)
    if (index < middle) {
      ranges.push({ from: middle, to })
      to = middle
    } else {
      ranges.push({ from, to: middle })
      from = middle
    }
  }
  return ranges.reverse()
}

/** The subtrees whose hashes prove that the tree of `size` leaves begins with that of `old`; 0 < old <= size. */
export const consistencyRanges = (old: number, size: number): ReadonlyArray<Range> => {
  const ranges: Array<Range> = []
  let from = 0
  let to = size
  while (to > old) {
    const middle = from + split(to - from)
    if (old <= middle) {
      ranges.push({ from: middle, to })
      to = middle
    } else {
      ranges.push({ from, to: middle })
      from = middle
    }
  }
  // From leaf 0 the remaining range is the whole old tree, whose root the verifier already has.
  if (from > 0) ranges.push({ from, to })
  return ranges.reverse()
}

/** A perfect subtree: `2^height` leaves from `index * 2^height` on. */
export interface Subtree {
  readonly height: number
  readonly index: number
}

/** Splits a range into the largest aligned perfect subtrees, left to right; its hash folds them from the right. */
export const subtreesOf = ({ from, to }: Range): ReadonlyArray<Subtree> => {
  const subtrees: Array<Subtree> = []
  for (let at = from; at < to;) {
    let height = 0
    while (at % 2 ** (height + 1) === 0 && at + 2 ** (height + 1) <= to) height += 1
    subtrees.push({ height, index: at / 2 ** height })
    at += 2 ** height
  }
  return subtrees
}

/** Returns the side of each sibling on the path from a node to the root; `last` is the last node of the same level. */
export const siblingSides = (from: number, last: number): ReadonlyArray<"left" | "right"> => {
  const sides: Array<"left" | "right"> = []
  for (let at = from, end = last; end > 0; at = Math.floor(at / 2), end = Math.floor(end / 2)) {
    // The last node of a level has no sibling when it is a left one, and moves up unchanged.
    if (at % 2 === 1) sides.push("left")
    else if (at < end) sides.push("right")
  }
  return sides
}

/**
 * How a consistency proof is folded; 0 < old < size. The root of an old tree that is one perfect subtree is known;
 * otherwise the proof starts with the old tree's last perfect subtree.
 */
export const consistencyPath = (
  old: number,
  size: number,
): { readonly isKnown: boolean; readonly sides: ReadonlyArray<"left" | "right"> } => {
  let at = old - 1
  let last = size - 1
  while (at % 2 === 1) {
    at = Math.floor(at / 2)
    last = Math.floor(last / 2)
  }
  return { isKnown: at === 0, sides: siblingSides(at, last) }
}
