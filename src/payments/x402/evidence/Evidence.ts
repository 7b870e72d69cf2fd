/** What follows from the answers of nodes that may be behind, forgetful or contradict each other (docs/payment-protocol.md). */
import { Duration, Effect, Option, Schedule } from "effect"
import type { Hex } from "viem"
import type { Address } from "../../../../schema/Common.ts"
import * as Trace from "../../../platform/Trace.ts"
import { inLowerCase } from "../../Hex.ts"
import type { Found } from "../../protocol/Decision.ts"
import { alreadyUsed, endIn, type Log, pays, type SignedAuthorization, tooPoor } from "../verification/Eip3009.ts"
import type { BlockRange } from "./LogSearch.ts"
import * as LongReceipts from "./LongReceipts.ts"

export interface BlockId {
  readonly number: bigint
  readonly hash: Hex
}

export interface Block extends BlockId {
  readonly timestamp: bigint
}

/** A transaction that is in a block, with its token's logs. */
export interface Receipt {
  readonly block: BlockId
  readonly succeeded: boolean
  readonly logs: ReadonlyArray<Log>
  /** Whether reading it takes so long that it is not done at every look. */
  readonly isLong?: boolean
}

export interface FoundLog {
  readonly transaction: Hex
  readonly blockHash: Hex
}

/**
 * What is proven. `Void` can never be paid; `Open` is everything else, with what the newest block says: whether the
 * authorization is unused there, and whether its transfer would revert there for another reason than being used or over;
 * `ended` is how a block that may still be taken back ended it without paying; `couldNotPay`, that the transaction it was to
 * travel in is in a final block without paying, and that its wallet was too poor at the final block and is at the newest one.
 * `Void` names the final transaction that used or cancelled it; one that expired has none.
 */
export type Evidence =
  | { readonly _tag: "Paid"; readonly transaction: Hex; readonly block: BlockId }
  | { readonly _tag: "Void"; readonly reason: VoidReason; readonly transaction?: Hex }
  | {
      readonly _tag: "Open"
      readonly unused: boolean
      readonly reverts: boolean
      readonly ended?: VoidReason
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
  /** First block whose logs can hold the transfer. */
  readonly fromBlock: bigint
  /** A transaction that may hold it, as a relayer, a facilitator or a row names it. */
  readonly transaction: Option.Option<Hex>
  /** How long to wait for that transaction to be in a block; zero to look once. */
  readonly patience: Duration.Duration
  /** The number of a block that has held the transfer: a node whose newest is below it has seen nothing yet. */
  readonly foundIn?: Option.Option<bigint>
  /** Whether logs are read from the newest block back. */
  readonly newestFirst?: boolean
}

/** What is asked of a node; each answer may come from another one. */
export interface Node<E> {
  /** The newest block and the newest from which nothing is taken back, asked together. */
  readonly heads: Effect.Effect<{ readonly newest: Block; readonly final: Block }, E>
  /**
   * The newest final block; after that, and asked together, the block that has this number now and the one that has the
   * number of the final one, `again`.
   */
  readonly finalAnd: (
    number: bigint,
  ) => Effect.Effect<{ readonly final: Block; readonly there: Block; readonly again: Block }, E>
  readonly receiptOf: (transaction: Hex, asset: Address) => Effect.Effect<Option.Option<Receipt>, E>
  /** Whether the authorization is used at a block, and why its transfer would revert there, asked together. */
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

/** Answers that contradict each other, or are missing, say nothing at all. */
const nothing = open(false, false)

/** Base makes a block every 2 s; the first questions are quick for chains that are quicker. */
const receiptSchedule = Schedule.min([Schedule.exponential("20 millis", 1.5), Schedule.spaced("1 second")])

const paidIn = (authorization: SignedAuthorization, { logs, succeeded }: Receipt) =>
  succeeded && pays(logs, authorization)

/** The evidence that one node after the other gives, and whether a block is beyond being taken back. */
export const make = <E>(node: Node<E>) => {
  const long = LongReceipts.make()

  /** The receipt once there is one; a node that does not answer is asked again, until patience ends. */
  const awaitReceipt = (transaction: Hex, asset: Address, patience: Duration.Duration) =>
    node.receiptOf(transaction, asset).pipe(
      Effect.orElseSucceed(() => Option.none<Receipt>()),
      Effect.repeat({ until: Option.isSome, schedule: receiptSchedule }),
      Effect.timeoutOrElse({ duration: patience, orElse: () => Effect.succeedNone }),
    )

  // A receipt on a stone is in small letters, whoever named the transaction.
  const paidBy = (transaction: Hex, { block }: Receipt): Evidence => ({
    _tag: "Paid",
    transaction: inLowerCase(transaction),
    block,
  })

  const isFinal = Effect.fnUntraced(function* ({ hash, number }: BlockId) {
    const { again, final, there } = yield* node.finalAnd(number)
    // A node on another branch, which says what it has at that number, has another block at the final one's, or none.
    return number <= final.number && again.hash === final.hash && there.hash === hash
  }, Trace.span("Chain.isFinal"))

  /** What the transaction of a log that ended the authorization proves; its receipt has to say what the log says. */
  const endedBy = Effect.fnUntraced(function* (authorization: SignedAuthorization, log: FoundLog, used: boolean) {
    const known = long.find(log)
    // A long one is read once, and once more when its block is final, however many look and for however many authorizations.
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

  /** Whether a transaction that did not pay is final, and the wallet too poor at the final block; no when that cannot be said. */
  const wasTooPoor = Effect.fnUntraced(
    function* (authorization: SignedAuthorization, receipt: Receipt, final: Block) {
      if (receipt.block.number > final.number || !(yield* isFinal(receipt.block))) return false
      const { revert, used } = yield* node.stateAt(authorization, final)
      return !used && Option.contains(revert, tooPoor)
    },
    // A node need not keep the state of the final block: then the end of the authorization decides.
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
    // What is unused at a block above the final one was unused there, too, and after its end it stays so: no node has
    // to keep the state of the final block.
    const isOver = final.timestamp >= authorization.validBefore
    // Past its end at a block that may be replaced it reverts for everybody: that says nothing of the chain that stays.
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

  /** Seconds back from its end in which an authorization can have been used, by what this server takes. */
  const longestLife = 86_400n

  const usedBy = Effect.fn("Chain.usedBy")(function* (authorization: SignedAuthorization) {
    const { newest } = yield* node.heads
    const latest = authorization.validBefore - longestLife
    const oldest = authorization.validAfter > latest ? authorization.validAfter : latest
    // A block comes at least a second after the one before it, so there are no more blocks than seconds.
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
