/** Draws conclusions about an authorization from the scan and from a node that may lag, forget or contradict itself. */
import { Context, Duration, Effect, Layer, Option, Schedule } from "effect"
import type { Hex } from "viem"
import type { Address } from "../../../../schema/Common.ts"
import * as Trace from "../../../platform/Trace.ts"
import type { Finding } from "../../decision.ts"
import { alreadyUsed, amountPaid, endIn, inLowerCase, pays, type SignedAuthorization } from "./Eip3009.ts"
import { Chain } from "./Chain.ts"
import { type BlockId, type EvidenceNode, isFinalBy, type TransactionReceipt } from "./Rpc.ts"
import type { ScannedTransfer } from "./TransferRows.ts"
import { Transfers } from "./Transfers.ts"

/** A conclusion about an authorization. `Open` means that neither a payment nor its impossibility is proven. */
export type Conclusion =
  | { readonly _tag: "Paid"; readonly transaction: Hex; readonly block: BlockId }
  /** It can never be paid. The transaction used or cancelled it in a final block; an expired one has none. */
  | { readonly _tag: "Void"; readonly reason: VoidReason; readonly transaction?: Hex }
  /** `unused`: at the newest block. */
  | { readonly _tag: "Open"; readonly unused: boolean }

export type VoidReason = "authorization_expired" | "authorization_canceled" | "authorization_spent_elsewhere"

export const findingOf = (conclusion: Conclusion): Finding<Conclusion & { readonly _tag: "Paid" }> => {
  if (conclusion._tag === "Paid") return { is: "paid", proof: conclusion }
  if (conclusion._tag === "Void") return { is: "void", reason: conclusion.reason }
  return { is: conclusion.unused ? "unused" : "nothing" }
}

export interface Search {
  readonly authorization: SignedAuthorization
  /** The first block that can hold the transfer. */
  readonly fromBlock: bigint
  /** A transaction that may hold it, as named by a relayer, a facilitator or a row. */
  readonly transaction: Option.Option<Hex>
  /** How long to wait for that transaction to be in a block; zero reads once. */
  readonly patience: Duration.Duration
  /** Whether logs are searched from the newest block backwards. */
  readonly newestFirst?: boolean
}

export interface Table<E> {
  readonly find: (authorization: SignedAuthorization) => Effect.Effect<Option.Option<ScannedTransfer>, E>
  /** Whether every final block in which the authorization could be used has been read. */
  readonly hasReadPast: (authorization: SignedAuthorization) => Effect.Effect<boolean, E>
  /** Records a final transfer that the scan lacks as an unmatched payment. */
  readonly recordUnmatched: (
    authorization: SignedAuthorization,
    transfer: { readonly amount: bigint; readonly transaction: Hex },
  ) => Effect.Effect<void, E>
}

/** Contradicting or missing answers prove nothing. */
const nothing = { _tag: "Open", unused: false } satisfies Conclusion

/** Base makes a block every 2 s. The first polls are fast for faster chains. */
const receiptSchedule = Schedule.min([Schedule.exponential("20 millis", 1.5), Schedule.spaced("1 second")])

// Receipts of stones have the hash in lower case, whatever the reference's case.
const paidBy = (transaction: Hex, block: BlockId): Conclusion => ({
  _tag: "Paid",
  transaction: inLowerCase(transaction),
  block: { number: block.number, hash: block.hash },
})

const isIts = ({ to, value }: SignedAuthorization, row: ScannedTransfer) =>
  row.recipient === inLowerCase(to) && row.amount === value

/** The conclusion from a row of a final block, whatever a node says. */
const finalOf = (authorization: SignedAuthorization, row: ScannedTransfer): Conclusion =>
  isIts(authorization, row)
    ? paidBy(row.transaction, row.block)
    : { _tag: "Void", reason: "authorization_spent_elsewhere", transaction: row.transaction }

/** Seconds before its expiry within which an authorization can have been used, by this server's limits. */
const longestLife = 86_400n

export const make = <E, T = never>(node: EvidenceNode<E>, table: Table<T>) => {
  /** Polls for the receipt until patience ends. Failed polls are retried. */
  const awaitReceipt = (transaction: Hex, asset: Address, patience: Duration.Duration) =>
    node.receiptOf(transaction, asset).pipe(
      Effect.orElseSucceed(() => Option.none<TransactionReceipt>()),
      Effect.repeat({ until: Option.isSome, schedule: receiptSchedule }),
      Effect.timeoutOrElse({ duration: patience, orElse: () => Effect.succeedNone }),
    )

  /** The scan is asked last: a transfer of the last moment is in its table by then. */
  const expire = Effect.fnUntraced(function* (authorization: SignedAuthorization) {
    if (!(yield* table.hasReadPast(authorization))) return nothing
    const row = yield* table.find(authorization)
    if (Option.isNone(row)) return { _tag: "Void", reason: "authorization_expired" } satisfies Conclusion
    return row.value.isFinal ? finalOf(authorization, row.value) : nothing
  })

  /** Searches the logs of an authorization that the token calls used and that no row explains. */
  const explain = Effect.fnUntraced(function* (search: Search, newest: bigint) {
    const { authorization, fromBlock, newestFirst = false } = search
    const [end] = yield* node.endsOf(authorization, { from: fromBlock, to: newest }, newestFirst)
    if (end === undefined) return nothing
    const receipt = Option.getOrUndefined(yield* node.receiptOf(end.transaction, authorization.asset))
    if (receipt?.succeeded !== true) return nothing
    const { block, logs } = receipt
    const amount = amountPaid(logs, authorization) ?? 0n
    if (amount === authorization.value) return paidBy(end.transaction, block)
    const by = endIn(logs, authorization)
    // Only a final block excludes a payment.
    if (by === undefined || block.hash !== end.blockHash || !(yield* isFinalBy(node, block))) return nothing
    const transaction = inLowerCase(end.transaction)
    // Another amount that reached us is an unmatched payment. The scan records it, unless it cannot read the block.
    if (amount > 0n) {
      const scanned = yield* expire(authorization)
      if (scanned._tag !== "Void" || scanned.reason !== "authorization_expired") return scanned
      yield* table.recordUnmatched(authorization, { amount, transaction })
    }
    const reason = by === "used" ? "authorization_spent_elsewhere" : "authorization_canceled"
    return { _tag: "Void", reason, transaction } satisfies Conclusion
  })

  /** The conclusion from the token's state, and from a row that is not final. */
  const askNode = Effect.fnUntraced(function* (
    search: Search,
    row: ScannedTransfer | undefined,
  ): Effect.fn.Return<Conclusion, E | T> {
    const { authorization } = search
    const { final, newest } = yield* node.heads
    if (newest.number < final.number) return nothing
    if (row !== undefined && isIts(authorization, row)) {
      // This node has not come as far as the one that showed the transfer.
      if (row.block.number > newest.number) return nothing
      const { there } = yield* node.finalAnd(row.block.number)
      if (there.hash === row.block.hash) return paidBy(row.transaction, row.block)
    }
    const { revert, used } = yield* node.stateAt(authorization, newest)
    const wasUsed = Option.contains(revert, alreadyUsed)
    if (used ? Option.isNone(revert) : wasUsed) return nothing
    if (used) return yield* explain(search, newest.number)
    // An authorization unused above the final block was unused there, too, and after its expiry it stays so. The state
    // of the final block is not needed.
    if (final.timestamp >= authorization.validBefore)
      return Option.isNone(revert) ? nothing : yield* expire(authorization)
    return { _tag: "Open", unused: true }
  })

  /** The payment by the named transaction, or by another one while the named one is in no block. */
  const paymentIn = Effect.fnUntraced(function* (transaction: Hex, search: Search, row: ScannedTransfer | undefined) {
    const { authorization, patience } = search
    const isPatient = !Duration.isZero(patience)
    const receiptWithin = (share: number) =>
      isPatient
        ? awaitReceipt(transaction, authorization.asset, Duration.times(patience, share))
        : node.receiptOf(transaction, authorization.asset)
    let receipt = yield* receiptWithin(0.25)
    if (isPatient && Option.isNone(receipt)) {
      const early = yield* Effect.option(askNode(search, row))
      if (Option.exists(early, ({ _tag }) => _tag === "Paid")) return early
      receipt = yield* receiptWithin(0.75)
    }
    const isPayment = ({ logs, succeeded }: TransactionReceipt) => succeeded && pays(logs, authorization)
    return Option.map(Option.filter(receipt, isPayment), ({ block }) => paidBy(transaction, block))
  })

  const evidence = Effect.fnUntraced(function* (search: Search): Effect.fn.Return<Conclusion, E | T> {
    const { authorization } = search
    const row = Option.getOrUndefined(yield* table.find(authorization))
    if (row?.isFinal === true) return finalOf(authorization, row)
    const payment = Option.isSome(search.transaction)
      ? yield* paymentIn(search.transaction.value, search, row)
      : Option.none()
    return Option.isSome(payment) ? payment.value : yield* askNode(search, row)
  }, Trace.span("Evidence.evidence"))

  /** The evidence about an authorization of a stranger, whose use may lie in any block of its life. */
  const usedBy = Effect.fnUntraced(function* (authorization: SignedAuthorization) {
    const { newest } = yield* node.heads
    const latest = authorization.validBefore - longestLife
    const oldest = authorization.validAfter > latest ? authorization.validAfter : latest
    // Blocks are at least a second apart, so there are no more blocks than seconds.
    const blocks = newest.timestamp > oldest ? newest.timestamp - oldest : 0n
    const fromBlock = newest.number > blocks ? newest.number - blocks : 0n
    const transaction = Option.none<Hex>()
    return yield* evidence({ authorization, fromBlock, transaction, patience: Duration.zero, newestFirst: true })
  }, Trace.span("Evidence.usedBy"))

  return { evidence, usedBy }
}

export class Evidence extends Context.Service<Evidence>()("spirit-altar/payments/x402/chain/Evidence", {
  make: Effect.gen(function* () {
    const chain = yield* Chain
    return make(chain, yield* Transfers)
  }),
}) {
  static readonly layer = Layer.effect(this, this.make)
}
