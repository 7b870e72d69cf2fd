/** Checks on final blocks that a transaction paid a payment back. */
import { Effect, Option, Schema } from "effect"
import type { Hex } from "viem"
import type { Address } from "../../schema/Common.ts"
import type { Refund } from "../../schema/payments/Refund.ts"
import { DatabaseClock } from "../platform/DatabaseClock.ts"
import { timestampOf } from "../platform/Time.ts"
import { AddressText, Word } from "./Hex.ts"
import { RefundRefused, type Returnable } from "./store/Refunds.ts"
import { Chain } from "./chain/Chain.ts"
import { topicOf, transferTopic } from "./chain/Eip3009.ts"
import type { Receipt } from "./chain/Questions.ts"

const addressesOf = Schema.decodeUnknownEffect(
  Schema.Struct({ asset: AddressText, payer: AddressText, transaction: Word }),
)

const refuse = (message: string) => Effect.fail(new RefundRefused({ message: `${message} Nothing was recorded.` }))

/** The sum that the transaction moved to the wallet, less what it moved from it. */
const movedTo = (payer: Address, { logs }: Receipt) =>
  logs
    .filter(({ data, topics: [event] }) => event === transferTopic && data.length === 66)
    .reduce((sum, { data, topics: [, from, to] }) => {
      const received = to === topicOf(payer) ? BigInt(data) : 0n
      return sum + received - (from === topicOf(payer) ? BigInt(data) : 0n)
    }, 0n)

/** The refund to record. The payment and the transfer back must both be in final blocks, in this order. */
export const checked = Effect.fn("RefundCheck.checked")(
  function* (payment: Returnable, transaction: Hex) {
    const chain = yield* Chain
    const { receiptOf } = yield* chain.questions
    const clock = yield* DatabaseClock
    const { amountAtomic, attempt, claimableUntil, network, refund } = payment
    if (network === null) return yield* refuse("This payment was made by card. Refund it at the card processor.")
    if (refund !== null) return yield* refuse(`This payment was refunded in transaction ${refund.transaction}.`)
    if (claimableUntil !== null)
      return yield* refuse(
        `The buyer can still buy with this payment, until ${new Date(claimableUntil * 1000).toISOString()}. Record its refund a minute later.`,
      )
    const { asset, payer, transaction: original } = yield* Effect.orDie(addressesOf(payment))

    const finalReceipt = Effect.fnUntraced(function* (hash: Hex, what: string) {
      const receipt = Option.getOrUndefined(yield* receiptOf(hash, asset))
      if (receipt === undefined) return yield* refuse(`The node of RPC_URL knows no transaction ${hash} of ${what}.`)
      if (!receipt.succeeded) return yield* refuse(`The transaction ${hash} of ${what} failed.`)
      if (yield* chain.isFinal(receipt.block)) return receipt
      return yield* refuse(`The block of ${what} is not final yet. Try again later.`)
    })

    const paid = yield* finalReceipt(original, "the payment")
    const returned = yield* finalReceipt(transaction, "the refund")
    if (returned.block.number < paid.block.number) return yield* refuse("This transaction is older than the payment.")
    const moved = movedTo(payer, returned)
    if (moved < amountAtomic)
      return yield* refuse(
        `This transaction moved ${moved} atomic USDC to ${payer}, which paid ${amountAtomic}. One transaction must return all of it.`,
      )
    return {
      transaction,
      network,
      asset,
      payer,
      amountAtomic: moved.toString(),
      originalTransaction: original,
      attempt,
      recordedAt: timestampOf((yield* clock.now).millis),
    } satisfies Refund
  },
  Effect.catchTag("ChainUnavailable", () => refuse("The node of RPC_URL does not answer. Try again later.")),
)
