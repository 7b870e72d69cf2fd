/** Checks on final blocks that a transaction paid a payment back. */
import { Effect, Schema } from "effect"
import { type Hex, hexToBigInt, toEventSelector } from "viem"
import type { Refund } from "../../schema/payments/Refund.ts"
import { DatabaseClock } from "../platform/DatabaseClock.ts"
import { timestampOf } from "../platform/Time.ts"
import { AddressText, HexText, inLowerCase, Quantity, Word, wordOf } from "./Hex.ts"
import { RefundRefused, type Returnable } from "./store/Refunds.ts"
import { Chain } from "./chain/Chain.ts"
import { question } from "./chain/Rpc.ts"

const Receipt = Schema.Struct({
  transactionHash: Word,
  status: HexText,
  blockNumber: Quantity,
  blockHash: Word,
  logs: Schema.Array(Schema.Struct({ address: AddressText, topics: Schema.Array(Word), data: HexText })),
})
type Receipt = typeof Receipt.Type

const readReceipt = question("eth_getTransactionReceipt", Schema.NullOr(Receipt))
const transferTopic = toEventSelector("Transfer(address,address,uint256)")

/** The addresses of a payment on chain. A card's have another form. */
const addressesOf = Schema.decodeUnknownEffect(
  Schema.Struct({ asset: AddressText, payer: AddressText, transaction: Word }),
)

const refuse = (message: string) => Effect.fail(new RefundRefused({ message: `${message} Nothing was recorded.` }))

/** The sum that the transaction moved to the wallet, less what it moved from it. */
const movedTo = (payer: Hex, asset: Hex, { logs }: Receipt) => {
  const wallet = `0x${wordOf(payer)}`
  return logs
    .filter(
      ({ address, data, topics: [event] }) =>
        inLowerCase(address) === inLowerCase(asset) && event === transferTopic && data.length === 66,
    )
    .reduce((sum, { data, topics: [, from, to] }) => {
      const received = to === wallet ? BigInt(data) : 0n
      return sum + received - (from === wallet ? BigInt(data) : 0n)
    }, 0n)
}

/** The refund to record. The payment and the transfer back must both be in final blocks, in this order. */
export const checked = Effect.fn("RefundCheck.checked")(
  function* (payment: Returnable, transaction: Hex) {
    const chain = yield* Chain
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
      const receipt = yield* readReceipt(chain.ask, hash)
      if (receipt === null) return yield* refuse(`The node of RPC_URL knows no transaction ${hash} of ${what}.`)
      if (inLowerCase(receipt.transactionHash) !== inLowerCase(hash))
        return yield* refuse(`The node of RPC_URL answers for ${hash} of ${what} with another transaction.`)
      if (receipt.status !== "0x1") return yield* refuse(`The transaction ${hash} of ${what} failed.`)
      const block = { number: hexToBigInt(receipt.blockNumber), hash: receipt.blockHash }
      if (yield* chain.isFinal(block)) return receipt
      return yield* refuse(`The block of ${what} is not final yet. Try again later.`)
    })

    const paid = yield* finalReceipt(original, "the payment")
    const returned = yield* finalReceipt(transaction, "the refund")
    if (hexToBigInt(returned.blockNumber) < hexToBigInt(paid.blockNumber))
      return yield* refuse("This transaction is older than the payment.")
    const moved = movedTo(payer, asset, returned)
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
