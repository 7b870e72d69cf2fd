/** What was hashed of tiles, remembered by their very bytes: a tile that was changed is hashed anew. */
import { hashSize } from "../../schema/log/Merkle.ts"
import { hashesOf, nodeOf, type SubtreeHash } from "./Tree.ts"

/** 16 KB each. */
const mostTiles = 256

interface Known {
  readonly bytes: Uint8Array
  /** Of each height from 0 the hashes of all whole subtrees, one behind the other. */
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

/** A copy: what arrived is part of a larger message. */
const remembered = (arrived: Uint8Array): Known => {
  const bytes = Uint8Array.from(arrived)
  return { bytes, rows: rowsOf(bytes) }
}

/**
 * Remembers as many tiles as a proof's readers come back to; the longest unused goes first. No `Cache`: what is known under
 * a name counts only for the bytes at hand, and a tree is hashed outside of any effect.
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
