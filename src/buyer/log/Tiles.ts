/** Computes proofs from a log's tiles; the check of the proof decides whether they are right. */
import { type Bytes, Malformed } from "../../../schema/log/Bytes.ts"
import { consistencyRanges, hashSize, type Range, subtreesOf } from "../../../schema/log/Merkle.ts"
import { placeOf, type Tile, widthAt } from "../../../schema/log/Tile.ts"
import { extendsTree, type Tree } from "./MerkleProofs.ts"
import { node } from "./WebCrypto.ts"

/** Reads a tile of exactly this width. */
export type ReadTile = (tile: Tile) => Promise<Bytes>

/** The hash over 2^n neighbours, n from 0. */
const perfect = async (hashes: ReadonlyArray<Bytes>): Promise<Bytes | undefined> => {
  let level = hashes
  while (level.length > 1) {
    level = await Promise.all(
      level.flatMap((left, at) => {
        const right = level[at + 1]
        return at % 2 === 0 && right !== undefined ? [node(left, right)] : []
      }),
    )
  }
  return level[0]
}

const hashOfRange = async (range: Range, size: number, read: ReadTile): Promise<Bytes | Malformed> => {
  let hash: Bytes | undefined
  // Folded from the right.
  for (const subtree of subtreesOf(range).toReversed()) {
    const { count, start, ...place } = placeOf(subtree)
    const width = widthAt(size, place)
    const bytes = await read({ ...place, width })
    if (bytes.length !== width * hashSize) return new Malformed(`A tile of ${width} hashes has ${bytes.length} bytes.`)
    const left = await perfect(
      Array.from({ length: count }, (_, at) => bytes.slice((start + at) * hashSize, (start + at + 1) * hashSize)),
    )
    if (left === undefined) return new Malformed("A tile has no hash where one is needed.")
    hash = hash === undefined ? left : await node(left, hash)
  }
  return hash ?? new Malformed("A range without leaves has no hash.")
}

/** Reads each tile once. */
const once = (read: ReadTile): ReadTile => {
  const known = new Map<string, Promise<Bytes>>()
  return (tile) => {
    const name = `${tile.level}/${tile.index}`
    const reading = known.get(name) ?? read(tile)
    known.set(name, reading)
    return reading
  }
}

/** The hashes that prove that the tree of `size` leaves begins with that of `old`; 0 < old <= size. */
export const consistencyProof = async (
  old: number,
  size: number,
  read: ReadTile,
): Promise<ReadonlyArray<Bytes> | Malformed> => {
  const reading = once(read)
  const hashes: Array<Bytes> = []
  for (const range of consistencyRanges(old, size)) {
    const hash = await hashOfRange(range, size, reading)
    if (hash instanceof Malformed) return hash
    hashes.push(hash)
  }
  return hashes
}

/**
 * The root of a tree's first `old` leaves, by tiles that fold to the root of the tree; undefined when the tiles do not,
 * which proves nothing about the tree. 0 < old <= size.
 */
export const rootAt = async (old: number, tree: Tree, read: ReadTile): Promise<Bytes | undefined> => {
  const reading = once(read)
  const root = old === tree.size ? tree.root : await hashOfRange({ from: 0, to: old }, tree.size, reading)
  const hashes = await consistencyProof(old, tree.size, reading)
  if (root instanceof Malformed || hashes instanceof Malformed) return undefined
  return (await extendsTree({ size: old, root }, tree, hashes)) ? root : undefined
}
