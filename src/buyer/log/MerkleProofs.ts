/** Verifies inclusion and consistency proofs; a proof of the wrong length is rejected unread. */
import { type Bytes, equal } from "../../../schema/log/Bytes.ts"
import { consistencyPath, hashSize, siblingSides } from "../../../schema/log/Merkle.ts"
import { node, sha256 } from "./WebCrypto.ts"

export interface Tree {
  readonly size: number
  readonly root: Bytes
}

/** A tree whose leaves come in order; it keeps one hash for each perfect subtree. */
export const growingTree = () => {
  const subtrees: Array<Tree> = []
  const size = () => subtrees.reduce((sum, subtree) => sum + subtree.size, 0)
  return {
    size,
    push: async (leafHash: Bytes) => {
      let right: Tree = { size: 1, root: leafHash }
      for (let left = subtrees.at(-1); left?.size === right.size; left = subtrees.at(-1)) {
        subtrees.pop()
        right = { size: 2 * right.size, root: await node(left.root, right.root) }
      }
      subtrees.push(right)
    },
    root: async (): Promise<Bytes> => {
      const [last, ...others] = subtrees.toReversed()
      let root = last?.root ?? (await sha256(new Uint8Array()))
      for (const left of others) root = await node(left.root, root)
      return root
    },
  }
}

const isSize = (size: number) => Number.isSafeInteger(size) && size >= 0

const areHashes = (hashes: ReadonlyArray<Bytes>, count: number) =>
  hashes.length === count && hashes.every((hash) => hash.length === hashSize)

/** Whether the leaf with this hash is number `index`, from 0, of the tree. */
export const includes = async (tree: Tree, index: number, leafHash: Bytes, hashes: ReadonlyArray<Bytes>) => {
  if (!isSize(index) || !isSize(tree.size) || index >= tree.size) return false
  const path = siblingSides(index, tree.size - 1)
  if (!areHashes(hashes, path.length) || leafHash.length !== hashSize) return false
  let hash = leafHash
  for (const [at, sibling] of hashes.entries())
    hash = await (path[at] === "left" ? node(sibling, hash) : node(hash, sibling))
  return equal(hash, tree.root)
}

/** Whether the tree begins with all leaves of the older one; false for an empty one, which proves nothing. */
export const extendsTree = async (old: Tree, tree: Tree, hashes: ReadonlyArray<Bytes>): Promise<boolean> => {
  if (!isSize(old.size) || !isSize(tree.size) || old.size === 0 || old.size > tree.size) return false
  if (old.size === tree.size) return hashes.length === 0 && equal(old.root, tree.root)
  const { isKnown, sides: path } = consistencyPath(old.size, tree.size)
  if (!areHashes(hashes, path.length + (isKnown ? 0 : 1))) return false
  const [seed = old.root, ...siblings] = isKnown ? [old.root, ...hashes] : hashes
  let [older, newer] = [seed, seed]
  for (const [at, sibling] of siblings.entries()) {
    if (path[at] === "left") older = await node(sibling, older)
    newer = await (path[at] === "left" ? node(sibling, newer) : node(newer, sibling))
  }
  return equal(older, old.root) && equal(newer, tree.root)
}
