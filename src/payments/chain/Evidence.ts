/** Draws conclusions from answers of stale, pruned or contradictory nodes (docs/payment-protocol.md). */
import { Duration, Effect, Option, Schedule } from "effect"
import type { Hex } from "viem"
import type { Address } from "../../../schema/Common.ts"
import * as Trace from "../../platform/Trace.ts"
import { inLowerCase } from "../Hex.ts"
import type { Found } from "../decision/Decision.ts"
import { alreadyUsed, endIn, type Log, pays, type SignedAuthorization, tooPoor } from "./Eip3009.ts"
import type { BlockRange } from "./LogSearch.ts"
import * as LongReceipts from "./LongReceipts.ts"

export interface BlockId {
  readonly number: bigint
  readonly hash: Hex
}

export interface Block extends BlockId {
  readonly timestamp: bigint
}

/** A transaction in a block, with its token's logs. */
export interface Receipt {
  readonly block: BlockId
  readonly succeeded: boolean
  readonly logs: ReadonlyArray<Log>
  /** Whether reading it is too expensive to repeat at every inquiry. */
  readonly isLong?: boolean
}

export interface FoundLog {
  readonly transaction: Hex
  readonly blockHash: Hex
}

/** A conclusion about an authorization. `Open` means that neither a payment nor its impossibility is proven. */
export type Evidence =
  | { readonly _tag: "Paid"; readonly transaction: Hex; readonly block: BlockId }
  /** It can never be paid. The transaction used or cancelled it in a final block; an expired one has none. */
  | { readonly _tag: "Void"; readonly reason: VoidReason; readonly transaction?: Hex }
  | {
      readonly _tag: "Open"
      /** Whether the authorization is unused at the newest block. */
      readonly unused: boolean
      /** Whether its transfer would revert there, for another reason than use or expiry. */
      readonly reverts: boolean
      /** How a block that is not final ended it without paying. */
      readonly ended?: VoidReason
      /** Its transaction is final and did not pay, and its wallet was too poor at the final block and still is. */
      readonly couldNotPay?: true
    }

export type VoidReason = "authorization_expired" | "authorization_canceled" | "authorization_spent_elsewhere"

export const findingOf = (evidence: Evidence): Found<Evidence & { readonly _tag: "Paid" }> => {
  if (evidence._tag === "Paid") return { is: "paid", proof: evidence }
  if (evidence._tag === "Void") return { is: "void", reason: evidence.reason }
  if (evidence.couldNotPay === true) return { is: "poor" }
  if (evidence.ended !== undefined) return { is: "ended" }
  if (!evidence.unused) return { is: "nothing" }
  return { is: evidence.reverts ? "reverts" : "unused" }
}

export interface Search {
  readonly authorization: SignedAuthorization
  /** The first block that can hold the transfer. */
  readonly fromBlock: bigint
  /** A transaction that may hold it, as named by a relayer, a facilitator or a row. */
  readonly transaction: Option.Option<Hex>
  /** How long to wait for that transaction to be in a block; zero reads once. */
  readonly patience: Duration.Duration
  /** The number of a block that held the transfer. A node whose newest block is below it is stale. */
  readonly foundIn?: Option.Option<bigint>
  /** Whether logs are searched from the newest block backwards. */
  readonly newestFirst?: boolean
}

/** Queries to a node. Each answer may come from another one. */
export interface Node<E> {
  /** The newest block and the newest final one, in one query. */
  readonly heads: Effect.Effect<{ readonly newest: Block; readonly final: Block }, E>
  /** The newest final block. Then, in one query, the block of this number and the block `again` at the final number. */
  readonly finalAnd: (
    number: bigint,
  ) => Effect.Effect<{ readonly final: Block; readonly there: Block; readonly again: Block }, E>
  readonly receiptOf: (transaction: Hex, asset: Address) => Effect.Effect<Option.Option<Receipt>, E>
  /** Whether the authorization is used at a block, and why its transfer would revert there, in one query. */
  readonly stateAt: (
    authorization: SignedAuthorization,
    block: BlockId,
  ) => Effect.Effect<{ readonly used: boolean; readonly revert: Option.Option<string> }, E>
  readonly logsOf: (
    authorization: SignedAuthorization,
    within: BlockRange,
    newestFirst: boolean,
  ) => Effect.Effect<ReadonlyArray<FoundLog>, E>
}

const open = (unused: boolean, reverts: boolean) => ({ _tag: "Open", unused, reverts }) satisfies Evidence

/** Contradicting or missing answers prove nothing. */
const nothing = open(false, false)

/** Base makes a block every 2 s. The first polls are fast for faster chains. */
const receiptSchedule = Schedule.min([Schedule.exponential("20 millis", 1.5), Schedule.spaced("1 second")])

const paidIn = (authorization: SignedAuthorization, { logs, succeeded }: Receipt) =>
  succeeded && pays(logs, authorization)

/** Collects evidence from a node, and tells whether a block is final. */
export const make = <E>(node: Node<E>) => {
  const long = LongReceipts.make()

  /** Polls for the receipt until patience ends. Failed polls are retried. */
  const awaitReceipt = (transaction: Hex, asset: Address, patience: Duration.Duration) =>
    node.receiptOf(transaction, asset).pipe(
      Effect.orElseSucceed(() => Option.none<Receipt>()),
      Effect.repeat({ until: Option.isSome, schedule: receiptSchedule }),
      Effect.timeoutOrElse({ duration: patience, orElse: () => Effect.succeedNone }),
    )

  // Receipts of stones have the hash in lower case, whatever the reference's case.
  const paidBy = (transaction: Hex, { block }: Receipt): Evidence => ({
    _tag: "Paid",
    transaction: inLowerCase(transaction),
    block,
  })

  const isFinal = Effect.fnUntraced(function* ({ hash, number }: BlockId) {
    const { again, final, there } = yield* node.finalAnd(number)
    // A node on another branch has another block at the final number, or none.
    return number <= final.number && again.hash === final.hash && there.hash === hash
  }, Trace.span("Chain.isFinal"))

  /** The conclusion from a log that ended the authorization. The transaction's receipt must confirm the log. */
  const endedBy = Effect.fnUntraced(function* (authorization: SignedAuthorization, log: FoundLog, used: boolean) {
    const known = long.find(log)
    // A long receipt is read once, and again when its block is final, shared by all inquiries about all its
    // authorizations.
    const isNowFinal = known?.isFinal === false && (yield* isFinal(known.block))
    const receipt =
      known === undefined || isNowFinal
        ? Option.getOrUndefined(yield* node.receiptOf(log.transaction, authorization.asset))
        : known
    if (receipt === undefined) return nothing
    if (receipt !== known) long.note(log.transaction, receipt, isNowFinal)
    if (paidIn(authorization, receipt)) return paidBy(log.transaction, receipt)
    const end = receipt.succeeded ? endIn(receipt.logs, authorization) : undefined
    if (!used || end === undefined || receipt.block.hash !== log.blockHash) return nothing
    const reason = end === "used" ? "authorization_spent_elsewhere" : "authorization_canceled"
    const transaction = inLowerCase(log.transaction)
    return (yield* isFinal(receipt.block))
      ? ({ _tag: "Void", reason, transaction } satisfies Evidence)
      : ({ ...nothing, ended: reason } satisfies Evidence)
  })

  /** Whether a transaction that did not pay is final, with its wallet too poor at the final block; false if unknown. */
  const wasTooPoor = Effect.fnUntraced(
    function* (authorization: SignedAuthorization, receipt: Receipt, final: Block) {
      if (receipt.block.number > final.number || !(yield* isFinal(receipt.block))) return false
      const { revert, used } = yield* node.stateAt(authorization, final)
      return !used && Option.contains(revert, tooPoor)
    },
    // A node may not keep the state of the final block. Then the expiry of the authorization decides.
    Effect.orElseSucceed(() => false),
  )

  const evidence = Effect.fnUntraced(function* (search: Search): Effect.fn.Return<Evidence, E> {
    const { authorization, foundIn = Option.none(), fromBlock, newestFirst = false, patience } = search
    let unpaying: Receipt | undefined
    if (Option.isSome(search.transaction)) {
      const transaction = search.transaction.value
      const receipt = yield* Duration.isZero(patience)
        ? node.receiptOf(transaction, authorization.asset)
        : awaitReceipt(transaction, authorization.asset, patience)
      if (Option.isSome(receipt) && paidIn(authorization, receipt.value)) return paidBy(transaction, receipt.value)
      unpaying = Option.getOrUndefined(receipt)
    }
    const { final, newest } = yield* node.heads
    if (newest.number < final.number) return nothing
    if (Option.exists(foundIn, (block) => newest.number < block)) return nothing
    const { revert, used } = yield* node.stateAt(authorization, newest)
    const wasUsed = Option.contains(revert, alreadyUsed)
    if (used ? Option.isNone(revert) : wasUsed) return nothing
    // An authorization unused above the final block was unused there, too, and after its expiry it stays so. The state
    // of the final block is not needed.
    const isOver = final.timestamp >= authorization.validBefore
    // An expired authorization reverts in a block that may be reorganised. That proves nothing about the final chain.
    if (!used && !isOver) {
      const isOpen = open(true, Option.isSome(revert) && newest.timestamp < authorization.validBefore)
      if (!isOpen.reverts || !Option.contains(revert, tooPoor) || unpaying === undefined) return isOpen
      return (yield* wasTooPoor(authorization, unpaying, final)) ? { ...isOpen, couldNotPay: true } : isOpen
    }
    if (!used && Option.isNone(revert)) return nothing
    const [log] = yield* node.logsOf(authorization, { from: fromBlock, to: newest.number }, newestFirst)
    if (log !== undefined) return yield* endedBy(authorization, log, used)
    return used ? nothing : { _tag: "Void", reason: "authorization_expired" }
  }, Trace.span("Chain.evidence"))

  /** Seconds before its expiry within which an authorization can have been used, by this server's limits. */
  const longestLife = 86_400n

  const usedBy = Effect.fn("Chain.usedBy")(function* (authorization: SignedAuthorization) {
    const { newest } = yield* node.heads
    const latest = authorization.validBefore - longestLife
    const oldest = authorization.validAfter > latest ? authorization.validAfter : latest
    // Blocks are at least a second apart, so there are no more blocks than seconds.
    const blocks = newest.timestamp > oldest ? newest.timestamp - oldest : 0n
    const fromBlock = newest.number > blocks ? newest.number - blocks : 0n
    return yield* evidence({
      authorization,
      fromBlock,
      transaction: Option.none(),
      patience: Duration.zero,
      newestFirst: true,
    })
  })

  return { evidence, isFinal, usedBy }
}
