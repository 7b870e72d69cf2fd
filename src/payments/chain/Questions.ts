/** The questions of the scan and of evidence to a node, and the form of its answers. Each answer may come from another node. */
import { Effect, type Option } from "effect"
import type { Hex } from "viem"
import type { Address } from "../../../schema/Common.ts"
import type { Log, SignedAuthorization, TokenLog } from "./Eip3009.ts"

export interface BlockId {
  readonly number: bigint
  readonly hash: Hex
}

export interface Block extends BlockId {
  readonly timestamp: bigint
}

export interface Header extends Block {
  readonly parentHash: Hex
}

export interface BlockRange {
  readonly from: bigint
  readonly to: bigint
}

/** A transaction in a block, with its token's logs. */
export interface Receipt {
  readonly block: BlockId
  readonly succeeded: boolean
  readonly logs: ReadonlyArray<Log>
}

/** Values of a topic that are asked for; null for any. */
export type Topics = ReadonlyArray<Hex | ReadonlyArray<Hex> | null>

/** The newest block and the newest final one, in one request. */
type Heads<E> = Effect.Effect<{ readonly newest: Header; readonly final: Block }, E>

/** The answer to a question for logs, with what the same node knows of the range: the blocks before and at its end. */
export interface RangeLogs {
  readonly logs: ReadonlyArray<TokenLog>
  readonly before: Option.Option<Block>
  readonly end: Option.Option<Block>
  readonly newest: Block
}

export interface ScanNode<E> {
  readonly heads: Heads<E>
  readonly blockAt: (number: bigint) => Effect.Effect<Option.Option<Block>, E>
  /** The token's logs with these topics and the blocks around them, in one request. */
  readonly logs: (topics: Topics, range: BlockRange) => Effect.Effect<RangeLogs, E>
  /** All logs of the token in one transaction; none if the node does not know it. */
  readonly logsIn: (transaction: Hex) => Effect.Effect<Option.Option<ReadonlyArray<TokenLog>>, E>
  /** Whether the node refused the question for the number of its blocks or results. */
  readonly isTooWide: (error: E) => boolean
  /** Whether the answer itself was too large, so that even one block can have it. */
  readonly isTooLarge: (error: E) => boolean
}

export interface EvidenceNode<E> {
  readonly heads: Effect.Effect<{ readonly newest: Block; readonly final: Block }, E>
  /** The newest final block. Then, in one request, the block of this number and the block `again` at the final number. */
  readonly finalAnd: (
    number: bigint,
  ) => Effect.Effect<{ readonly final: Block; readonly there: Block; readonly again: Block }, E>
  readonly receiptOf: (transaction: Hex, asset: Address) => Effect.Effect<Option.Option<Receipt>, E>
  /** Whether the authorization is used at a block, and why its transfer would revert there, in one request. */
  readonly stateAt: (
    authorization: SignedAuthorization,
    block: BlockId,
  ) => Effect.Effect<{ readonly used: boolean; readonly revert: Option.Option<string> }, E>
  /** The logs that use or cancel the authorization, from a bounded number of questions. */
  readonly endsOf: (
    authorization: SignedAuthorization,
    within: BlockRange,
    newestFirst: boolean,
  ) => Effect.Effect<ReadonlyArray<TokenLog>, E>
  /** The transfers of its payer to its recipient in one block. */
  readonly transfersOf: (authorization: SignedAuthorization, block: bigint) => Effect.Effect<ReadonlyArray<TokenLog>, E>
}

/** Whether a node that has this block has it below its final one. */
export const isFinalBy = Effect.fnUntraced(function* <E>(
  { finalAnd }: Pick<EvidenceNode<E>, "finalAnd">,
  { hash, number }: BlockId,
) {
  const { again, final, there } = yield* finalAnd(number)
  // A node on another branch has another block at the final number, or none.
  return number <= final.number && again.hash === final.hash && there.hash === hash
})
