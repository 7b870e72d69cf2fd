/** Walks a whole witness chain and checks every link of it. */
import { Console, Effect, Schema } from "effect"
import { type ChainPoint, genesis, linkFault } from "../../../schema/altar/ChainCheck.ts"
import { segmentMaximum, TransactionHash } from "../../../schema/Common.ts"
import { entryOf } from "../../../schema/log/Entry.ts"
import { checkSegment, type Link } from "../../buyer/core/Chain.ts"
import { growingTree } from "../../buyer/log/MerkleProofs.ts"
import { leaf } from "../../buyer/log/WebCrypto.ts"
import * as Download from "./Download.ts"
import type { Payments } from "./Payments.ts"
import { broken } from "../CommandFailure.ts"

const Entry = Schema.Struct({
  sequence: Schema.Int,
  id: Schema.String,
  commitment: Schema.String,
  witnessedAt: Schema.String,
  transaction: TransactionHash,
  payer: Schema.String,
  previousHash: Schema.String,
  chainHash: Schema.String,
})

const Segment = Schema.Struct({
  entries: Schema.Array(Entry),
  head: Schema.Struct({ sequence: Schema.Int, chainHash: Schema.String }),
  next: Schema.NullOr(Schema.Int),
})

export interface Walk {
  /** Looks up the payments of the stones whose links hold. */
  readonly payments?: Payments | undefined
  /** Of a log's trees, whose roots are returned. */
  readonly sizes?: ReadonlyArray<number>
  /** Stones whose revealed words match these commitments, by id: the chain must hold them. */
  readonly revealed?: ReadonlyMap<string, Pick<Link, "commitment" | "sequence">>
  /** Whether the walk returns this stone. */
  readonly isSought?: (stone: typeof Entry.Type) => boolean
}

/** Checks all links at `base`, and fails with the first that is broken. */
export const verifyChain = Effect.fn("verifyChain")(function* (
  base: string,
  { isSought = () => false, payments, revealed, sizes = [] }: Walk,
) {
  const tree = growingTree()
  const roots = new Map([[0, yield* Effect.promise(tree.root)]])
  const grow = async (links: ReadonlyArray<Link>) => {
    for (const link of links) {
      await tree.push(await leaf(entryOf(link)))
      if (sizes.includes(tree.size())) roots.set(tree.size(), await tree.root())
    }
  }
  const unseen = new Map(revealed)
  const stonesSought: Array<typeof Entry.Type> = []
  let last: ChainPoint = genesis
  let next: number | null = 1
  while (next !== null) {
    const segment: typeof Segment.Type = yield* Download.json(
      `${base}/api/witness/chain?from=${next}&limit=${segmentMaximum}`,
      Segment,
    )
    const { checks, end, last: reached } = yield* Effect.promise(() => checkSegment(segment, last))
    const faults = checks.map(linkFault)
    const held = faults.findIndex((fault) => fault !== undefined)
    const whole = segment.entries.slice(0, held === -1 ? undefined : held)
    if (payments !== undefined) yield* payments.check(whole)
    const fault = faults[held] ?? end
    for (const { commitment, id, sequence } of whole) {
      const shown = unseen.get(id)
      unseen.delete(id)
      if (shown !== undefined && (shown.commitment !== commitment || shown.sequence !== sequence))
        return yield* broken(
          `stone ${sequence}`,
          `its revealed words are shown with another stone's commitment, ${shown.commitment}.`,
        )
    }
    if (fault !== undefined) return yield* broken(`stone ${fault.sequence}`, fault.summary)
    stonesSought.push(...whole.filter(isSought))
    if (sizes.length > 0) yield* Effect.promise(() => grow(whole))
    if (Math.floor(reached.sequence / 10_000) > Math.floor(last.sequence / 10_000))
      yield* Console.error(`links       ${reached.sequence} of ${segment.head.sequence} hold`)
    last = reached
    next = segment.next
  }
  const most = Math.max(0, ...sizes)
  if (last.sequence < most)
    return yield* broken(
      `stone ${last.sequence + 1}`,
      `the chain ends before it, and the log has signed a checkpoint of ${most} stones. If a cache on the way is old, check again later.`,
    )
  const [missing] = unseen.values()
  if (missing !== undefined)
    return yield* broken(`stone ${missing.sequence}`, "its words are revealed, but it is not in the chain.")
  return { stones: last.sequence, chainHash: last.chainHash, roots, stonesSought }
})

/** The result of a walk, for the check of the log over it. */
export type WalkedChain = Effect.Success<ReturnType<typeof verifyChain>>
