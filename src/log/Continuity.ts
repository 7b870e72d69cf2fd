/** Whether the tree of the log continues every checkpoint that was signed before. */
import { Effect } from "effect"
import { concat, equal } from "../../schema/log/Bytes.ts"
import { consistencyRanges } from "../../schema/log/Merkle.ts"
import { contradiction, type LogStore } from "./LogStore.ts"
import { type HeldCheckpoint, NotCosigned } from "./Cosigner.ts"
import { edgeOf, edgePlaces, extendsTree, placesOf, proofOf, rootOf, type TileReader, type TreeHead } from "./Tree.ts"

/** The ranges of a consistency proof from an older size. A smaller or empty tree needs none. */
const rangesOf = (old: number, size: number) => (old === 0 || old > size ? [] : consistencyRanges(old, size))

/** The source of an earlier signed checkpoint. */
type Source =
  | "the published checkpoint"
  | "the checkpoint this server signed last"
  | `the checkpoint that the cosigner ${string} holds`

export type Signed = readonly [source: Source, TreeHead]

export const byCosigner = ({ checkpoint, cosigner }: HeldCheckpoint): Signed => [
  `the checkpoint that the cosigner ${cosigner} holds`,
  checkpoint,
]

/** The right edge of the tree, if the stored tiles hash to the root of its head. */
export const edgeIn = ({ root, size }: TreeHead, tileAt: TileReader) => {
  const edge = edgeOf(size, tileAt)
  return edge !== undefined && equal(rootOf(edge), root)
    ? Effect.succeed(edge)
    : Effect.fail(
        contradiction("tiles", `the tiles of the ${size} stones of the log do not have the root it was built with`),
      )
}

export const continuity = (store: LogStore["Service"]) => {
  /** Fails if this tree contradicts an earlier signed checkpoint. */
  const checkContinues = Effect.fnUntraced(function* (tree: TreeHead, signed: ReadonlyArray<Signed>) {
    const ranges = signed.flatMap(([, before]) => rangesOf(before.size, tree.size))
    const tileAt = yield* store.tiles([...edgePlaces(tree.size), ...placesOf(ranges)])
    yield* edgeIn(tree, tileAt)
    for (const [source, before] of signed) {
      if (before.size > tree.size) {
        return yield* contradiction(
          "backup",
          `${source} covers ${before.size} stones, but this database has ${tree.size} in its log: a backup was restored, or this is another database`,
        )
      }
      const proof = proofOf(rangesOf(before.size, tree.size), tileAt)
      if (proof === undefined || !extendsTree(before, tree, proof)) {
        return yield* contradiction(
          // Only the published checkpoint is in this database. The others are records kept elsewhere.
          source === "the published checkpoint" ? "checkpoints" : "backup",
          `the first ${before.size} stones of the log are not those that ${source} covers`,
        )
      }
    }
  })

  const prove = (size: number) =>
    Effect.fnUntraced(function* (old: number) {
      const ranges = rangesOf(old, size)
      const proof = proofOf(ranges, yield* store.tiles(placesOf(ranges)))
      return proof === undefined
        ? yield* new NotCosigned({ message: "a tile is missing for its proof", isDoubt: false })
        : proof.map((hash) => concat(hash))
    })

  return { checkContinues, prove }
}
