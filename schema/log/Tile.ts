/** The tree as files (C2SP tlog-tiles): coordinates, paths and bundles of entries. */
import { type Bytes, concat, Malformed } from "./Bytes.ts"
import type { Subtree } from "./Merkle.ts"

/** Hashes of a full tile, and entries of a full bundle. */
export const fullWidth = 256

/** The hashes from `index * 256` on of a level, each the root of `256^level` leaves. */
export interface TilePlace {
  /** 0 to 63. */
  readonly level: number
  readonly index: number
}

/** The first `width` hashes of a place, 1 to 256. */
export interface Tile extends TilePlace {
  readonly width: number
}

/** `width` entries from `index * 256` on. */
export interface Bundle {
  readonly index: number
  readonly width: number
}

export type Resource = ({ readonly kind: "tile" } & Tile) | ({ readonly kind: "entries" } & Bundle)

const maxLevel = 63

/** Decimal in groups of three digits, all but the last marked: 1234067 is `x001/x234/067`. */
const indexPath = (index: number) => {
  const digits = String(index)
  const groups = digits.padStart(Math.ceil(digits.length / 3) * 3, "0").match(/[0-9]{3}/gu) ?? []
  return groups.map((group, at) => (at < groups.length - 1 ? `x${group}` : group)).join("/")
}

const widthPath = (width: number) => (width === fullWidth ? "" : `.p/${width}`)

/** The path below the log's prefix: `tile/0/000`, `tile/3/x123/x456/789.p/41`. */
export const tilePath = ({ index, level, width }: Tile): string =>
  `tile/${level}/${indexPath(index)}${widthPath(width)}`

/** The path below the log's prefix: `tile/entries/001.p/1`. */
export const bundlePath = ({ index, width }: Bundle): string => `tile/entries/${indexPath(index)}${widthPath(width)}`

const pathPattern = /^tile\/(entries|[0-9]{1,2})\/((?:x[0-9]{3}\/)*[0-9]{3})(?:\.p\/([0-9]{1,3}))?$/u

/** Parses a path. Each resource has one spelling, so that caches hold it once. */
export const parsePath = (path: string): Resource | Malformed => {
  const [, kind = "", groups = "", partial] = pathPattern.exec(path) ?? []
  const index = Number(groups.replaceAll(/[x/]/gu, ""))
  const width = partial === undefined ? fullWidth : Number(partial)
  const isSpelled =
    Number.isSafeInteger(index * fullWidth) &&
    path === (kind === "entries" ? bundlePath({ index, width }) : tilePath({ level: Number(kind), index, width })) &&
    (partial === undefined || (width > 0 && width < fullWidth)) &&
    (kind === "entries" || Number(kind) <= maxLevel)
  if (!isSpelled) return new Malformed("Must be a path as tlog-tiles writes it, like tile/0/x001/067.p/8.")
  return kind === "entries" ? { kind, index, width } : { kind: "tile", level: Number(kind), index, width }
}

/** Hashes of a level in a tree of `size` leaves; partial tiles are not hashed into the next level. */
export const hashesAt = (size: number, level: number): number => Math.floor(size / fullWidth ** level)

/** Width of a tile in a tree of `size` leaves; 0 when the tree has no such tile. */
export const widthAt = (size: number, { index, level }: TilePlace): number =>
  Math.max(0, Math.min(fullWidth, hashesAt(size, level) - index * fullWidth))

/** The tile that covers a perfect subtree: `count` hashes from `start` on. */
export const placeOf = ({ height, index }: Subtree): TilePlace & { readonly start: number; readonly count: number } => {
  const level = Math.floor(height / 8)
  const count = 2 ** (height % 8)
  const first = index * count
  return { level, index: Math.floor(first / fullWidth), start: first % fullWidth, count }
}

/** Encodes each entry, at most 65,535 bytes, after its length as two bytes, big-endian. */
export const bundleBytes = (entries: ReadonlyArray<Uint8Array>): Bytes =>
  concat(...entries.flatMap((entry) => [Uint8Array.of(Math.floor(entry.length / 256), entry.length % 256), entry]))
