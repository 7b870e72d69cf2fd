/** Caches subtree hashes of tiles by their exact bytes, so a changed tile is hashed again. */
import { hashSize } from "../../schema/log/Merkle.ts"
import { hashesOf, nodeOf, type SubtreeHash } from "./Tree.ts"

/** Maximum number of cached tiles, 16 KB each. */
const mostTiles = 256

interface Known {
  readonly bytes: Uint8Array
  /** The hashes of all whole subtrees, concatenated, by height from 0. */
  readonly rows: ReadonlyArray<Uint8Array>
}

const rowsOf = (bytes: Uint8Array): ReadonlyArray<Uint8Array> => {
  const rows = [bytes]
  for (let row = bytes; row.length >= 2 * hashSize;) {
    const hashes = hashesOf(row)
    const above = new Uint8Array(Math.floor(hashes.length / 2) * hashSize)
    for (const [at, right] of hashes.entries()) {
      const left = hashes[at - 1]
      if (at % 2 === 1 && left !== undefined) above.set(nodeOf(left, right), Math.floor(at / 2) * hashSize)
    }
    rows.push(above)
    row = above
  }
  return rows
}

/** Copies the bytes, since the received ones are part of a larger message. */
const remembered = (arrived: Uint8Array): Known => {
  const bytes = Uint8Array.from(arrived)
  return { bytes, rows: rowsOf(bytes) }
}

/**
 * Caches recently used tiles and evicts the least recently used. `Cache` does not fit: an entry is valid only for equal
 * bytes, and a tree is hashed outside of any effect.
 */
export const make = (): SubtreeHash => {
  const tiles = new Map<string, Known>()
  return ({ index, level }, bytes, start, count) => {
    const name = `${level}/${index}`
    const before = tiles.get(name)
    const known = before !== undefined && Buffer.compare(before.bytes, bytes) === 0 ? before : remembered(bytes)
    tiles.delete(name)
    tiles.set(name, known)
    const [oldest] = tiles.keys()
    if (tiles.size > mostTiles && oldest !== undefined) tiles.delete(oldest)
    const at = (start / count) * hashSize
    return known.rows[Math.log2(count)]?.subarray(at, at + hashSize) ?? new Uint8Array()
  }
}
