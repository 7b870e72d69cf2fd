/** Computes proofs from a log's tiles; the check of the proof decides whether they are right. */
import { type Bytes, Malformed } from "../../../schema/log/Bytes.ts"
import { consistencyRanges, hashSize, type Range, subtreesOf } from "../../../schema/log/Merkle.ts"
import { placeOf, type Tile, widthAt } from "../../../schema/log/Tile.ts"
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

/** The hashes that prove that the tree of `size` leaves begins with that of `old`; 0 < old <= size. */
export const consistencyProof = async (
  old: number,
  size: number,
  read: ReadTile,
): Promise<ReadonlyArray<Bytes> | Malformed> => {
  const known = new Map<string, Promise<Bytes>>()
  const once: ReadTile = (tile) => {
    const name = `${tile.level}/${tile.index}`
    const reading = known.get(name) ?? read(tile)
    known.set(name, reading)
    return reading
  }
  const hashes: Array<Bytes> = []
  for (const range of consistencyRanges(old, size)) {
    const hash = await hashOfRange(range, size, once)
    if (hash instanceof Malformed) return hash
    hashes.push(hash)
  }
  return hashes
}
