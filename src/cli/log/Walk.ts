/** Walks all entries of a log in constant memory, and derives every tile and the root from them. */
import { Effect, Option, Schema, Stream } from "effect"
import { genesisHash } from "../../../schema/altar/ChainLink.ts"
import { base64, equal, hex, Malformed } from "../../../schema/log/Bytes.ts"
import type { Checkpoint } from "../../../schema/log/Checkpoint.ts"
import { parseEntry } from "../../../schema/log/Entry.ts"
import { type Bundle, fullWidth, type Tile, tilePath, widthAt } from "../../../schema/log/Tile.ts"
import { append, type Edge, leafOf, rootOf, sha256, tileBytes } from "../../log/Tree.ts"
import * as ProgressBar from "../verify/ProgressBar.ts"
import { broken, entriesOf, type LogSource, tileOf } from "./LogSource.ts"

/** The tree so far. A full tile is compared and dropped. */
interface Walk {
  readonly size: number
  readonly edge: Edge
  /** Of the last stone. */
  readonly chainHash: string
}

/** The entries do not begin with those of the last check. Both checkpoints together prove it. */
export class Rewritten extends Schema.TaggedError<Rewritten>()("Rewritten", { message: Schema.String }) {}

const chainHashOf = Effect.fnUntraced(function* (entries: ReadonlyArray<Uint8Array>, before: Walk) {
  let { chainHash, size: at } = before
  for (const entry of entries) {
    at += 1
    const link = parseEntry(entry)
    if (link instanceof Malformed) return yield* broken(`entry ${at}: ${link.message}`)
    if (link.sequence !== at || link.previousHash !== chainHash) {
      return yield* broken(`entry ${at} does not follow the one before it.`)
    }
    chainHash = hex(sha256(entry))
  }
  return chainHash
})

/** Returns the chain hash of the last entry. `old` is the earlier checkpoint that the log must continue. */
export const walk = Effect.fn("LogWalk.walk")(function* (
  source: LogSource,
  { root, size }: Checkpoint,
  old: Option.Option<Checkpoint>,
) {
  const progress = ProgressBar.make("entries hold")

  const bundleAt = (index: number) => {
    const bundle: Bundle = { index, width: widthAt(size, { level: 0, index }) }
    return entriesOf(source, bundle)
  }

  const compare = Effect.fnUntraced(function* (tile: Tile, derived: Uint8Array) {
    if (!equal(yield* tileOf(source, tile), derived)) {
      return yield* broken(`${tilePath(tile)} is not the hash of its entries.`)
    }
  })

  /** At the size of the earlier checkpoint, this tree must have that checkpoint's root. */
  const continues = Effect.fnUntraced(function* (before: Walk, leaves: ReadonlyArray<Uint8Array>) {
    if (Option.isNone(old)) return
    const at = old.value.size - before.size
    if (at < 1 || at > leaves.length) return
    if (!equal(rootOf(append(before.edge, before.size, leaves.slice(0, at)).edge), old.value.root)) {
      return yield* new Rewritten({
        message: `its first ${old.value.size} entries are not those of the last check (root ${base64(old.value.root)}): the history was rewritten.`,
      })
    }
  })

  const grow = Effect.fnUntraced(function* (before: Walk, entries: ReadonlyArray<Uint8Array>) {
    const chainHash = yield* chainHashOf(entries, before)
    const leaves = entries.map(leafOf)
    yield* continues(before, leaves)
    const { edge, growths } = append(before.edge, before.size, leaves)
    for (const { hashes, index, level, start } of growths) {
      const full = [...(before.edge[level] ?? []).slice(0, start), ...hashes]
      if (full.length === fullWidth) yield* compare({ level, index, width: full.length }, tileBytes(full))
    }
    const after: Walk = { size: before.size + leaves.length, edge, chainHash }
    yield* progress(after.size, size)
    return after
  })

  const start: Walk = { size: 0, edge: [], chainHash: genesisHash }
  const walked = yield* (size === 0 ? Stream.empty : Stream.range(0, Math.ceil(size / fullWidth) - 1)).pipe(
    Stream.mapEffect(bundleAt, { concurrency: 8 }),
    Stream.runFoldEffect(() => start, grow),
  )
  // The edge of every level is served, even if the last entries did not change it.
  for (const [level, hashes] of walked.edge.entries()) {
    const index = Math.floor(size / fullWidth ** (level + 1))
    if (hashes.length > 0) yield* compare({ level, index, width: hashes.length }, tileBytes(hashes))
  }
  if (!equal(rootOf(walked.edge), root)) return yield* broken("its entries do not have the root that was signed.")
  return walked.chainHash
})
