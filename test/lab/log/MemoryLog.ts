/** A log in memory: the added tiles, stored as the table stores them. */
import { assert } from "@effect/vitest"
import { Result } from "effect"
import { concat, utf8 } from "../../../schema/log/Bytes.ts"
import { consistencyRanges, inclusionRanges } from "../../../schema/log/Merkle.ts"
import type { TilePlace } from "../../../schema/log/Tile.ts"
import { append, type Edge, hashOfRange, leafOf, proofOf, rootOf, tileBytes } from "../../../src/log/Tree.ts"
import { proofFileText } from "../../../schema/log/ProofFile.ts"
import { fromText, generate } from "../../../src/log/Signer.ts"
import type { CosigningKey } from "./Cosigner.ts"

export const keyOf = ({ index, level }: TilePlace) => `${level}/${index}`

const present = <A>(value: A | undefined): A => {
  if (value === undefined) throw new Error("a tile is missing")
  return value
}

export class MemoryLog {
  readonly tiles = new Map<string, Uint8Array>()
  edge: Edge = []
  size = 0

  readonly tileAt = (place: TilePlace) => this.tiles.get(keyOf(place))

  append(leaves: ReadonlyArray<Uint8Array>) {
    const { edge, growths } = append(this.edge, this.size, leaves)
    for (const growth of growths) {
      const before = this.tileAt(growth) ?? new Uint8Array()
      assert.strictEqual(before.length, growth.start * 32, `tile ${keyOf(growth)} grew elsewhere`)
      this.tiles.set(keyOf(growth), concat(before, tileBytes(growth.hashes)))
    }
    this.edge = edge
    this.size += leaves.length
    return this
  }

  get root() {
    return rootOf(this.edge)
  }

  rootAt(size: number) {
    return present(hashOfRange({ from: 0, to: size }, this.tileAt))
  }

  inclusion(index: number, size = this.size) {
    return present(proofOf(inclusionRanges(index, size), this.tileAt)).map((hash) => Uint8Array.from(hash))
  }

  consistency(old: number, size = this.size) {
    return present(proofOf(consistencyRanges(old, size), this.tileAt)).map((hash) => Uint8Array.from(hash))
  }
}

/** Leaves of `entry-0`, `entry-1` … */
export const goldenLeaves = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, at) => leafOf(utf8(`entry-${from + at}`)))

export const goldenLog = (size: number) => new MemoryLog().append(goldenLeaves(0, size))

export const foreignLog = (
  name: string,
  entries: ReadonlyArray<string>,
  cosigners: ReadonlyArray<CosigningKey> = [],
  origin = name,
) => {
  const signer = Result.getOrThrow(fromText(Result.getOrThrow(generate(name))))
  const log = new MemoryLog().append(entries.map((entry) => leafOf(utf8(entry))))
  const note = signer.note({ origin, size: log.size, root: concat(log.root), extensions: [] })
  const text = note.slice(0, note.indexOf("\n\n") + 1)
  const checkpoint = `${note}${cosigners.map((cosigner) => cosigner.line(text, 1_790_000_000)).join("")}`
  return {
    vkey: signer.vkey,
    checkpoint,
    proof: (index: number) => proofFileText({ extra: undefined, index, hashes: log.inclusion(index), checkpoint }),
  }
}
