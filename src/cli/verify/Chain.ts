/** An independent check of a whole witness chain. */
import { Effect, Option, Schema } from "effect"
import { type ChainPoint, genesis, linkFault } from "../../../schema/altar/ChainCheck.ts"
import { segmentMaximum, TransactionHash } from "../../../schema/Common.ts"
import type { Bytes } from "../../../schema/log/Bytes.ts"
import { entryOf } from "../../../schema/log/Entry.ts"
import { checkSegment, type Link } from "../../buyer/core/Chain.ts"
import { growingTree } from "../../buyer/log/MerkleProofs.ts"
import { leaf } from "../../buyer/log/WebCrypto.ts"
import * as Download from "./Download.ts"
import * as ProgressBar from "./ProgressBar.ts"
import * as Payments from "./Payments.ts"
import { broken } from "./Payments.ts"
import { type RevealedStone } from "./Reveals.ts"

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

/** Stones with a reveal, by id, that the chain has not confirmed yet. */
type Revealed = ReadonlyMap<string, RevealedStone>

/** Finds revealed stones that are missing from the chain or have another commitment there. */
const confirming = (revealed: Revealed) => {
  const left = new Map(revealed)
  const link = Effect.fnUntraced(function* ({ commitment, id, sequence }: typeof Entry.Type) {
    const shown = left.get(id)
    left.delete(id)
    if (shown !== undefined && (shown.commitment !== commitment || shown.sequence !== sequence)) {
      return yield* broken(
        sequence,
        `its revealed words are shown with another stone's commitment, ${shown.commitment}.`,
      )
    }
  })
  const end = Effect.suspend(() => {
    const [stone] = left.values()
    return stone === undefined
      ? Effect.void
      : broken(stone.sequence, "its words are revealed, but it is not in the chain.")
  })
  return { link, end }
}

/**
 * Checks all links, and with an RPC all payments, which went to `payees` or else to one address. Fails with the first
 * broken link. `sizes` are those of a log's trees, whose roots are returned. `revealed` are stones whose reveals match
 * commitments that the chain must hold.
 */
export const verifyChain = Effect.fn("verifyChain")(function* (
  base: string,
  rpcUrl: Option.Option<string>,
  payees: ReadonlyArray<string> = [],
  sizes: ReadonlyArray<number> = [],
  revealed: Revealed = new Map(),
) {
  const reveals = confirming(revealed)
  const payments = Option.isSome(rpcUrl) ? yield* Payments.make(base, rpcUrl.value, payees) : undefined
  const progress = ProgressBar.make("links hold")
  const most = Math.max(0, ...sizes)
  const tree = growingTree()
  const roots = new Map<number, Bytes>()
  const grow = async (links: ReadonlyArray<Link>) => {
    if (links.length === 0) roots.set(0, await tree.root())
    for (const link of links) {
      if (tree.size() >= most) return
      await tree.push(await leaf(entryOf(link)))
      if (sizes.includes(tree.size())) roots.set(tree.size(), await tree.root())
    }
  }
  yield* Effect.promise(() => grow([]))
  let last: ChainPoint = genesis
  let next: number | null = 1
  while (next !== null) {
    const asked: number = next
    const segment: typeof Segment.Type = yield* Download.json(
      `${base}/api/witness/chain?from=${asked}&limit=${segmentMaximum}`,
      Segment,
    )
    const { checks, end, last: reached } = yield* Effect.promise(() => checkSegment(segment, last))
    const held = checks.findIndex((check) => linkFault(check) !== undefined)
    const whole = (held === -1 ? checks : checks.slice(0, held)).map(({ link }) => link)
    if (payments !== undefined) yield* payments.check(whole)
    const check = checks[held]
    const fault = check === undefined ? undefined : linkFault(check)
    if (fault !== undefined) return yield* broken(fault.sequence, fault.summary)
    yield* Effect.forEach(whole, reveals.link, { discard: true })
    yield* Effect.promise(() => grow(whole))
    last = reached
    next = segment.next
    // A single request needs no progress bar.
    if (asked > 1 || next !== null) yield* progress(last.sequence, segment.head.sequence)
    if (end !== undefined) return yield* broken(end.sequence, end.summary)
  }
  if (last.sequence < most) {
    return yield* broken(
      last.sequence + 1,
      `the chain ends before it, and the log has signed a checkpoint of ${most} stones. If a cache on the way is old, check again later.`,
    )
  }
  yield* reveals.end
  const found = payments === undefined ? { payTo: [], lost: [] } : yield* payments.found
  return { stones: last.sequence, chainHash: last.chainHash, roots, ...found }
})

/** The result of a walk, for the check of the log over it. */
export type WalkedChain = Pick<Effect.Success<ReturnType<typeof verifyChain>>, "roots" | "stones">
