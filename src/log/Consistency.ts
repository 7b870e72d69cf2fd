/** Verifies that a tree extends an older one, for a publisher before it signs and for a witness. */
import { equal } from "../../schema/log/Bytes.ts"
import { consistencyPath, hashSize } from "../../schema/log/Merkle.ts"
import { nodeOf } from "./Tree.ts"

interface Tree {
  readonly size: number
  readonly root: Uint8Array
}

/** Verifies a consistency proof. Every tree extends the empty one, without hashes. */
export const extendsTree = (old: Tree, tree: Tree, hashes: ReadonlyArray<Uint8Array>): boolean => {
  if (old.size > tree.size) return false
  if (old.size === tree.size) return hashes.length === 0 && equal(old.root, tree.root)
  if (old.size === 0) return hashes.length === 0
  const { isKnown, sides } = consistencyPath(old.size, tree.size)
  const [first = old.root, ...siblings] = isKnown ? [old.root, ...hashes] : hashes
  if (hashes.length !== sides.length + (isKnown ? 0 : 1)) return false
  if (hashes.some((hash) => hash.length !== hashSize)) return false
  let [older, newer] = [first, first]
  for (const [at, sibling] of siblings.entries()) {
    if (sides[at] === "left") older = nodeOf(sibling, older)
    newer = sides[at] === "left" ? nodeOf(sibling, newer) : nodeOf(newer, sibling)
  }
  return equal(older, old.root) && equal(newer, tree.root)
}
