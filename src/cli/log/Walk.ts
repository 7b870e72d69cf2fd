/** One walk over all entries of a log in constant memory: derives every tile and root, and can resume. */
import { Effect, Option, Schema, Stream } from "effect"
import { genesisHash } from "../../../schema/altar/ChainLink.ts"
import { base64, equal, hex, Malformed } from "../../../schema/log/Bytes.ts"
import type { Checkpoint } from "../../../schema/log/Checkpoint.ts"
import { parseEntry } from "../../../schema/log/Entry.ts"
import { type Bundle, fullWidth, type Tile, tilePath, widthAt } from "../../../schema/log/Tile.ts"
import { append, type Edge, leafOf, rootOf, sha256, tileBytes } from "../../log/Tree.ts"
import * as ProgressBar from "../verify/ProgressBar.ts"
import type { CommandFailure } from "../CommandFailure.ts"
import { broken, entriesOf, type LogSource, tileOf } from "./LogSource.ts"

/** The tree so far; a full tile is compared and dropped. */
export interface Walk {
  readonly size: number
  readonly edge: Edge
  /** Of the last entry; null in a log whose entries are no stones, and so opaque. */
  readonly chainHash: string | null
}

export const walkStart: Walk = { size: 0, edge: [], chainHash: genesisHash }

/** Bundles between two saved places: 10,240 entries. */
const savedEvery = 40

/** The shown history does not begin with the signed one; both checkpoints together prove it. */
export class Rewritten extends Schema.TaggedError<Rewritten>()("Rewritten", { message: Schema.String }) {}

/** A copy that grows along a walk. The walk downloads nothing that the copy already holds. */
export interface Copy {
  /** The entries of its bundle, when they are those of its tile. */
  readonly entries: (bundle: Bundle) => Effect.Effect<Option.Option<ReadonlyArray<Uint8Array>>>
  readonly hasTile: (tile: Tile, bytes: Uint8Array) => Effect.Effect<boolean>
  readonly addEntries: (bundle: Bundle, entries: ReadonlyArray<Uint8Array>) => Effect.Effect<void, CommandFailure>
  readonly addTile: (tile: Tile, bytes: Uint8Array) => Effect.Effect<void, CommandFailure>
}

/** Copies nothing. */
export const noCopy: Copy = {
  entries: () => Effect.succeedNone,
  hasTile: () => Effect.succeed(false),
  addEntries: () => Effect.void,
  addTile: () => Effect.void,
}

/** For a walk that starts anew each time. */
export const noPlace = () => Effect.void

export interface WalkConfig {
  readonly source: LogSource
  readonly copy: Copy
  /** Whether the entries must be stones; else those of a log whose first entry is none are opaque. */
  readonly isOurs: boolean
  readonly checkpoint: Checkpoint
  /** The earlier checkpoint that the log must continue. */
  readonly old: Option.Option<Checkpoint>
  readonly from: Walk
  readonly save: (walk: Walk) => Effect.Effect<void, CommandFailure>
}

export const walk = Effect.fn("LogWalk.walk")(function* ({
  checkpoint,
  copy,
  from,
  isOurs,
  old,
  save,
  source,
}: WalkConfig) {
  const { root, size } = checkpoint
  const progress = ProgressBar.make("entries hold")

  const bundleAt = Effect.fnUntraced(function* (index: number) {
    const bundle: Bundle = { index, width: widthAt(size, { level: 0, index }) }
    const here = yield* copy.entries(bundle)
    const entries = Option.isSome(here) ? here.value : yield* entriesOf(source, bundle)
    return { bundle, entries, isNew: Option.isNone(here) }
  })

  const compare = Effect.fnUntraced(function* (tile: Tile, derived: Uint8Array) {
    if (yield* copy.hasTile(tile, derived)) return
    if (!equal(yield* tileOf(source, tile), derived)) {
      return yield* broken(`${tilePath(tile)} is not the hash of its entries.`)
    }
    yield* copy.addTile(tile, derived)
  })

  const isStone = (entry: Uint8Array | undefined) => entry !== undefined && !(parseEntry(entry) instanceof Malformed)

  const chainHashOf = Effect.fnUntraced(function* (entries: ReadonlyArray<Uint8Array>, before: Walk) {
    let { chainHash, size: at } = before
    if (chainHash === null || (!isOurs && at === 0 && !isStone(entries[0]))) return null
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

  /** At the size of the earlier checkpoint, this tree must have that checkpoint's root. */
  const continues = Effect.fnUntraced(function* (before: Walk, leaves: ReadonlyArray<Uint8Array>) {
    if (Option.isNone(old)) return
    const at = old.value.size - before.size
    if (at < 1 || at > leaves.length) return
    if (!equal(rootOf(append(before.edge, before.size, leaves.slice(0, at)).edge), old.value.root)) {
      return yield* new Rewritten({
        message: `its first ${old.value.size} entries are not those of the checkpoint seen before (root ${base64(old.value.root)}): the history was rewritten.`,
      })
    }
  })

  const grow = Effect.fnUntraced(function* (
    before: Walk,
    { bundle, entries, isNew }: Effect.Success<ReturnType<typeof bundleAt>>,
  ) {
    const chainHash = yield* chainHashOf(entries, before)
    const leaves = entries.map(leafOf)
    yield* continues(before, leaves)
    const { edge, growths } = append(before.edge, before.size, leaves)
    for (const { hashes, index, level, start } of growths) {
      const full = [...(before.edge[level] ?? []).slice(0, start), ...hashes]
      if (full.length === fullWidth) yield* compare({ level, index, width: full.length }, tileBytes(full))
    }
    if (isNew) yield* copy.addEntries(bundle, entries)
    const after: Walk = { size: before.size + leaves.length, edge, chainHash }
    yield* progress(after.size, size)
    if (after.size % (savedEvery * fullWidth) === 0) yield* save(after)
    return after
  })

  const last = Math.ceil(size / fullWidth) - 1
  const walked = yield* (from.size >= size ? Stream.empty : Stream.range(Math.floor(from.size / fullWidth), last)).pipe(
    Stream.mapEffect(bundleAt, { concurrency: 8 }),
    Stream.runFoldEffect(() => from, grow),
  )
  // The edge of every level is served, even if the last entries did not change it.
  for (const [level, hashes] of walked.edge.entries()) {
    const index = Math.floor(size / fullWidth ** (level + 1))
    if (hashes.length > 0) yield* compare({ level, index, width: hashes.length }, tileBytes(hashes))
  }
  if (!equal(rootOf(walked.edge), root)) return yield* broken("its entries do not have the root that was signed.")
  return walked
})
