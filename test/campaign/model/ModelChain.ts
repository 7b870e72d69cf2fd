/** An adversarial chain: blocks that are replaced until they are final, and a node that is stale for as long as it likes. */
import { Effect, Option } from "effect"
import type { Block, EvidenceNode } from "../../../src/payments/x402/chain/Rpc.ts"
import { alreadyUsed, type TokenLog, tooPoor, unexplained } from "../../../src/payments/x402/chain/Eip3009.ts"
import { logsOf } from "../../lab/TransferLogs.ts"

/**
 * The knowledge of one node. Blocks are numbered from 1, made at a time that is their number, and hold one transaction each, a
 * letter: `r` is our relayer's transfer, `o` a facilitator's or an outsider's, `c` the payer's cancellation. By the same nonce the
 * payer sends us nothing (`z`) or another amount (`a`). The wallet's money leaves by `d` and comes back by `f`; `-` is nothing. The
 * hash of a block is the text of the chain up to it.
 */
export interface View {
  readonly blocks: string
  /** Number of the newest block that cannot be orphaned. */
  readonly final: number
}

/** The possible content of a block. */
export interface Pool {
  /** Whether our relayer has sent its transfer. */
  readonly isSent: boolean
  /** Whether others have read the signature, so that they may submit it at any time. */
  readonly isRead: boolean
}

export interface Adversary {
  /** The authorization is valid in blocks below this number. */
  readonly expiry: number
  /** Blocks at most. */
  readonly height: number
  /** Whether a node may be stale; otherwise all know the newest block. */
  readonly lags?: boolean
  readonly payerCancels?: boolean
  /** Whether the payer may use the nonce to send us nothing, or another amount. */
  readonly payerSpends?: boolean
  /** Whether the wallet's money may leave and come back. */
  readonly moneyMoves?: boolean
  /** Whether every block stays; otherwise those that are not final may be replaced. */
  readonly blocksStay?: boolean
  /** Whether a node may answer no log to the scan although it has it. */
  readonly forgets?: boolean
  /** Whether two questions that are asked together may be answered by different nodes. */
  readonly splitsBatches?: boolean
}

interface Executed {
  /** How the authorization ended. */
  readonly end: { readonly by: string; readonly isPaid: boolean; readonly block: number } | undefined
  readonly isPoor: boolean
}

/** The effects of the blocks, in order. */
export const execute = (blocks: string, expiry: number): Executed => {
  let end: Executed["end"]
  let isPoor = false
  for (const [index, by] of [...blocks].entries()) {
    const block = index + 1
    if (by === "d" || by === "f") isPoor = by === "d"
    if ("cza".includes(by)) end ??= { by, isPaid: false, block }
    if ((by === "r" || by === "o") && block < expiry && !isPoor) end ??= { by, isPaid: true, block }
  }
  return { end, isPoor }
}

/** Why a transfer would revert on the newest of these blocks, if it would; the token looks at the clock first. */
export const revertOf = (blocks: string, expiry: number) => {
  if (blocks.length >= expiry) return unexplained
  const { end, isPoor } = execute(blocks, expiry)
  return end === undefined ? (isPoor ? tooPoor : undefined) : alreadyUsed
}

/** How the final part of a chain ended the authorization. */
export const finalEnd = ({ blocks, final }: View, { expiry }: Adversary) => execute(blocks.slice(0, final), expiry).end

/** The transfer to us that the scan has a row of. */
export const rowOf = (end: Executed["end"]) => (end?.isPaid === true || end?.by === "a" ? end.by : "")

const candidates = (blocks: string, { isRead, isSent }: Pool, adversary: Adversary) => {
  const { expiry, moneyMoves, payerCancels, payerSpends } = adversary
  const { end, isPoor } = execute(blocks, expiry)
  const isUnused = end === undefined
  return [
    "-",
    ...(isSent && !blocks.includes("r") ? ["r"] : []),
    ...(isRead && isUnused && !isPoor && blocks.length + 1 < expiry ? ["o"] : []),
    ...(payerCancels === true && isUnused ? ["c"] : []),
    ...(payerSpends === true && isUnused ? ["z", "a"] : []),
    ...(moneyMoves === true && blocks.length + 1 < expiry && isPoor ? ["f"] : []),
    ...(moneyMoves === true && blocks.length + 1 < expiry && isUnused && !blocks.includes("d") ? ["d"] : []),
  ]
}

/** Everything the chain can do by itself. */
export const moves = (
  truth: View,
  lag: View,
  pool: Pool,
  adversary: Adversary,
  told: (says: string, change: { readonly truth?: View; readonly lag: View }) => void,
) => {
  const { blocks, final } = truth
  const emit = (says: string, next: View) => told(says, { truth: next, lag: adversary.lags === true ? lag : next })
  const height = blocks.length
  if (height < adversary.height)
    for (const by of candidates(blocks, pool, adversary))
      emit(`chain: block ${height + 1} holds ${by}`, { blocks: blocks + by, final })
  if (final < height) emit(`chain: block ${final + 1} is final`, { blocks, final: final + 1 })
  for (let kept = final; kept < height && adversary.blocksStay !== true; kept += 1)
    emit(`chain: the blocks above ${kept} are replaced`, { blocks: blocks.slice(0, kept), final })
  if (blocks !== lag.blocks || final !== lag.final) told("the stale node catches up", { lag: truth })
}

export const blockOf = ({ blocks }: View, number: number): Block => ({
  number: BigInt(number),
  hash: `0x${blocks.slice(0, number)}`,
  timestamp: BigInt(number),
})

const { canceled, moved, used } = logsOf()
const otherAmounts: Readonly<Record<string, typeof moved>> = {
  z: logsOf({ value: 0n }).moved,
  a: logsOf({ value: 1n }).moved,
}

/** The logs of a transaction that ends the authorization. */
const logsBy = (by: string) => (by === "c" ? [canceled] : [used, otherAmounts[by] ?? moved])

const logIn = (view: View, { block, by }: NonNullable<Executed["end"]>, log: typeof used, index: number): TokenLog => ({
  ...log,
  transaction: `0x${by}`,
  block: BigInt(block),
  blockHash: blockOf(view, block).hash,
  index,
})

/** Puts a question to one of the nodes. */
export type Ask = <A>(question: (view: View) => A) => A

/** The questions of `Evidence`; `ask` says whose knowledge each of them meets. */
export const nodeOf = ({ expiry, splitsBatches }: Adversary, ask: Ask): EvidenceNode<never> => {
  /** Two questions that are asked together. */
  const both = <A, B>(one: (view: View) => A, other: (view: View) => B): readonly [A, B] =>
    splitsBatches === true ? [ask(one), ask(other)] : ask((view) => [one(view), other(view)])
  const finalOf = (view: View) => blockOf(view, view.final)
  return {
    heads: Effect.sync(() => {
      const [newest, final] = both((view) => blockOf(view, view.blocks.length), finalOf)
      return { newest, final }
    }),
    finalAnd: (number) =>
      Effect.sync(() => {
        const final = ask(finalOf)
        const [there, again] = both(
          (view) => blockOf(view, Number(number)),
          (view) => blockOf(view, Number(final.number)),
        )
        return { final, there, again }
      }),
    receiptOf: (transaction) =>
      Effect.sync(() =>
        ask((view) => {
          const by = transaction.slice(2)
          const number = view.blocks.indexOf(by) + 1
          if (number === 0) return Option.none()
          const { end } = execute(view.blocks, expiry)
          const succeeded = end?.by === by
          return Option.some({
            block: blockOf(view, number),
            succeeded,
            logs: succeeded ? logsBy(by) : [],
          })
        }),
      ),
    // A node that has the block has only one answer.
    stateAt: (_, { hash }) =>
      Effect.sync(() => {
        const blocks = hash.slice(2)
        const revert = Option.fromNullishOr(revertOf(blocks, expiry))
        return { used: execute(blocks, expiry).end !== undefined, revert }
      }),
    endsOf: (_, { from, to }) =>
      Effect.sync(() => {
        const found = ask((view) => {
          const { end } = execute(view.blocks, expiry)
          const isInside = end !== undefined && end.block >= from && end.block <= to
          return isInside ? [logIn(view, end, end.by === "c" ? canceled : used, 0)] : []
        })
        return found
      }),
  }
}
