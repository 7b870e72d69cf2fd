/** Verifies inclusion proofs, and grows a tree; a proof of the wrong length is rejected unread. */
import { type Bytes, equal } from "../../../schema/log/Bytes.ts"
import { hashSize, siblingSides } from "../../../schema/log/Merkle.ts"
import { sha256Bytes } from "../core/Digest.ts"
import { node } from "./WebCrypto.ts"

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
      let root = last?.root ?? (await sha256Bytes(new Uint8Array()))
      for (const left of others) root = await node(left.root, root)
      return root
    },
  }
}

/** Whether the leaf with this hash is number `index`, from 0, of the tree. */
export const includes = async (tree: Tree, index: number, leafHash: Bytes, hashes: ReadonlyArray<Bytes>) => {
  if (![index, tree.size].every(Number.isSafeInteger) || index < 0 || index >= tree.size) return false
  const path = siblingSides(index, tree.size - 1)
  if (hashes.length !== path.length || [leafHash, ...hashes].some(({ length }) => length !== hashSize)) return false
  let hash = leafHash
  for (const [at, sibling] of hashes.entries())
    hash = await (path[at] === "left" ? node(sibling, hash) : node(hash, sibling))
  return equal(hash, tree.root)
}
