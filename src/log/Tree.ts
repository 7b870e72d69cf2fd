/** The Merkle tree in tiles: leaves are appended to its right edge, and every hash of a proof comes from a tile. */
import { hash } from "node:crypto"
import { type Bytes, concat, equal, fromBase64 } from "../../schema/log/Bytes.ts"
import { emptyRoot } from "../../schema/log/Checkpoint.ts"
import { consistencyPath, hashSize, leafHash, nodeHash, type Range, subtreesOf } from "../../schema/log/Merkle.ts"
import { fullWidth, hashesAt, placeOf, type TilePlace, widthAt } from "../../schema/log/Tile.ts"

export const sha256 = (bytes: Uint8Array): Bytes => new Uint8Array(hash("sha256", bytes, "buffer"))

export const leafOf = (entry: Uint8Array): Bytes => leafHash(sha256, entry)

export const nodeOf = (left: Uint8Array, right: Uint8Array): Bytes => nodeHash(sha256, left, right)

export const rootOfNothing: Bytes = fromBase64(emptyRoot) ?? sha256(new Uint8Array())

/** The size of a tree and its root hash. */
export interface TreeHead {
  readonly size: number
  readonly root: Uint8Array
}

/** The hashes of the last, never full tile of each level from 0: all that appending needs. */
export type Edge = ReadonlyArray<ReadonlyArray<Uint8Array>>

/** Hashes appended to a tile after its first `start`. */
export interface Growth extends TilePlace {
  readonly start: number
  readonly hashes: ReadonlyArray<Uint8Array>
}

/** The hash over 2^n neighbours. */
const perfect = (hashes: ReadonlyArray<Uint8Array>): Uint8Array => {
  let level = hashes
  while (level.length > 1) {
    level = Array.from({ length: level.length / 2 }, (_, at) =>
      nodeOf(level[2 * at] ?? rootOfNothing, level[2 * at + 1] ?? rootOfNothing),
    )
  }
  return level[0] ?? rootOfNothing
}

/** The hashes of the largest perfect subtrees of a partial tile, left to right. */
const pieces = (hashes: ReadonlyArray<Uint8Array>) =>
  subtreesOf({ from: 0, to: hashes.length }).map(({ height, index }) =>
    perfect(hashes.slice(index * 2 ** height, (index + 1) * 2 ** height)),
  )

/** The hash over subtrees, left to right. */
const fold = (subtrees: ReadonlyArray<Uint8Array>): Uint8Array =>
  subtrees.length === 0 ? rootOfNothing : subtrees.reduceRight((right, left) => nodeOf(left, right))

export const rootOf = (edge: Edge): Uint8Array => fold(edge.toReversed().flatMap(pieces))

/** The places of an edge's tiles, with the number of hashes in each. */
export const edgePlaces = (size: number): ReadonlyArray<TilePlace & { readonly width: number }> => {
  const places: Array<TilePlace & { readonly width: number }> = []
  for (let level = 0; hashesAt(size, level) > 0; level += 1) {
    const hashes = hashesAt(size, level)
    places.push({ level, index: Math.floor(hashes / fullWidth), width: hashes % fullWidth })
  }
  return places
}

/** Appends leaves and returns the new edge with the growth of each tile. */
export const append = (
  edge: Edge,
  size: number,
  leaves: ReadonlyArray<Uint8Array>,
): { readonly edge: Edge; readonly growths: ReadonlyArray<Growth> } => {
  const levels = edge.map((hashes) => [...hashes])
  const growths: Array<TilePlace & { readonly start: number; readonly hashes: Array<Uint8Array> }> = []
  const growing: Array<(typeof growths)[number] | undefined> = []
  const counts = edge.map((_, level) => hashesAt(size, level))
  const push = (level: number, leaf: Uint8Array) => {
    const row = (levels[level] ??= [])
    const count = counts[level] ?? 0
    let growth = growing[level]
    if (growth === undefined) {
      growth = { level, index: Math.floor(count / fullWidth), start: count % fullWidth, hashes: [] }
      growing[level] = growth
      growths.push(growth)
    }
    growth.hashes.push(leaf)
    row.push(leaf)
    counts[level] = count + 1
    if (row.length < fullWidth) return
    levels[level] = []
    growing[level] = undefined
    push(level + 1, perfect(row))
  }
  for (const leaf of leaves) push(0, leaf)
  return { edge: levels, growths }
}

export const hashesOf = (tile: Uint8Array): ReadonlyArray<Uint8Array> =>
  Array.from({ length: Math.floor(tile.length / hashSize) }, (_, at) =>
    tile.subarray(at * hashSize, (at + 1) * hashSize),
  )

export const tileBytes = (hashes: ReadonlyArray<Uint8Array>): Bytes => concat(...hashes)

/** Reads the bytes of a stored tile, which may have grown wider than needed. */
export type TileReader = (place: TilePlace) => Uint8Array | undefined

/** The places of all tiles that the hashes of these ranges are computed from. */
export const placesOf = (ranges: ReadonlyArray<Range>): ReadonlyArray<TilePlace> => {
  const places = ranges.flatMap(subtreesOf).map(placeOf)
  return [...new Map(places.map(({ index, level }) => [`${level}/${index}`, { level, index }])).values()]
}

/** The hash over `count` neighbours of a tile, a power of two, starting at `start`. Implementations may cache. */
export type SubtreeHash = (place: TilePlace, bytes: Uint8Array, start: number, count: number) => Uint8Array

export const subtreeHash: SubtreeHash = (_, bytes, start, count) =>
  perfect(hashesOf(bytes.subarray(start * hashSize, (start + count) * hashSize)))

/** The hash over a range of leaves; undefined when a tile is missing or too narrow. */
export const hashOfRange = (
  range: Range,
  tileAt: TileReader,
  hashOf: SubtreeHash = subtreeHash,
): Uint8Array | undefined => {
  const hashes = subtreesOf(range).flatMap((subtree) => {
    const { count, start, ...place } = placeOf(subtree)
    const bytes = tileAt(place)
    return bytes !== undefined && bytes.length >= (start + count) * hashSize ? [hashOf(place, bytes, start, count)] : []
  })
  return hashes.length === subtreesOf(range).length ? fold(hashes) : undefined
}

/** The hashes of a proof; undefined when a tile is missing. */
export const proofOf = (
  ranges: ReadonlyArray<Range>,
  tileAt: TileReader,
  hashOf: SubtreeHash = subtreeHash,
): ReadonlyArray<Uint8Array> | undefined => {
  const hashes = ranges.flatMap((range) => hashOfRange(range, tileAt, hashOf) ?? [])
  return hashes.length === ranges.length ? hashes : undefined
}

/** The right edge of a tree of this size; undefined when a tile is missing or too narrow. */
export const edgeOf = (size: number, tileAt: TileReader): Edge | undefined => {
  const places = edgePlaces(size)
  const rows = places.flatMap(({ width, ...place }) => {
    const bytes = width === 0 ? new Uint8Array() : tileAt(place)?.subarray(0, width * hashSize)
    return bytes?.length === width * hashSize ? [hashesOf(bytes)] : []
  })
  return rows.length === places.length ? rows : undefined
}

/** The root of a tree of this size from its last tiles; undefined when one is missing or too narrow. */
const hashOfEdge = (size: number, tileAt: TileReader, hashOf: SubtreeHash): Uint8Array | undefined => {
  const places = edgePlaces(size).filter(({ width }) => width > 0)
  const hashes = places.toReversed().flatMap(({ width, ...place }) => {
    const bytes = tileAt(place)
    return bytes === undefined || bytes.length < width * hashSize
      ? []
      : [
          subtreesOf({ from: 0, to: width }).map(({ height, index }) =>
            hashOf(place, bytes, index * 2 ** height, 2 ** height),
          ),
        ]
  })
  return hashes.length === places.length ? fold(hashes.flat()) : undefined
}

export const leafAt = (index: number, tileAt: TileReader): Uint8Array | undefined =>
  hashOfRange({ from: index, to: index + 1 }, tileAt)

/** Verifies a consistency proof. Every tree extends the empty one, without hashes. */
export const extendsTree = (old: TreeHead, tree: TreeHead, hashes: ReadonlyArray<Uint8Array>): boolean => {
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

/** Whether the tiles above a leaf and those of the right edge fold to the root, which proves all of them. */
export const isSound = (tree: TreeHead, leaf: number, tileAt: TileReader, hashOf: SubtreeHash = subtreeHash) => {
  const root = hashOfEdge(tree.size, tileAt, hashOf)
  if (root === undefined || !equal(root, tree.root)) return false
  let index = Math.floor(leaf / fullWidth)
  for (let level = 0; widthAt(tree.size, { level, index }) === fullWidth; level += 1) {
    const place = { level, index }
    const bytes = tileAt(place)
    const at = (index % fullWidth) * hashSize
    index = Math.floor(index / fullWidth)
    const above = tileAt({ level: level + 1, index })?.subarray(at, at + hashSize)
    if (bytes?.length !== fullWidth * hashSize || above === undefined) return false
    if (!equal(hashOf(place, bytes, 0, fullWidth), above)) return false
  }
  return true
}

/** Maximum number of cached tiles, 16 KB each. */
const mostTiles = 256

interface HashedTile {
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
const remembered = (arrived: Uint8Array): HashedTile => {
  const bytes = Uint8Array.from(arrived)
  return { bytes, rows: rowsOf(bytes) }
}

/**
 * Caches subtree hashes of recently used tiles by their exact bytes, so a changed tile is hashed again, and evicts the least recently used. `Cache` does not fit: an entry is valid only for equal
 * bytes, and a tree is hashed outside of any effect.
 */
export const tileMemo = (): SubtreeHash => {
  const tiles = new Map<string, HashedTile>()
  return ({ index, level }, bytes, start, count) => {
    const name = `${level}/${index}`
    const before = tiles.get(name)
    const tile = before !== undefined && Buffer.compare(before.bytes, bytes) === 0 ? before : remembered(bytes)
    tiles.delete(name)
    tiles.set(name, tile)
    const [oldest] = tiles.keys()
    if (tiles.size > mostTiles && oldest !== undefined) tiles.delete(oldest)
    const at = (start / count) * hashSize
    return tile.rows[Math.log2(count)]?.subarray(at, at + hashSize) ?? new Uint8Array()
  }
}
