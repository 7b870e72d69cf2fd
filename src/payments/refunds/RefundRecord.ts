/** The record of a settled refund, signed with the receipt key under a type of its own. */
import { Effect, Schema } from "effect"
import type { Attempt } from "../ledger/Attempt.ts"
import type { Proof } from "../Payment.ts"
import { jwsOf } from "../receipts/Jws.ts"
import type { ReceiptKey } from "../receipts/ReceiptKeys.ts"

type OnChain = Extract<Proof, { readonly rail: "x402" }>

const originalOf = Schema.decodeUnknownEffect(
  Schema.Struct({
    reason: Schema.String,
    attempt: Schema.NullOr(Schema.String),
    payment: Schema.String,
    originalTransaction: Schema.String,
  }),
)

/** Neither this record nor a receipt verifies as the other: their types differ. */
export const refundRecord = Effect.fnUntraced(function* (
  publicUrl: string,
  key: ReceiptKey | undefined,
  { amountAtomic, input }: Attempt,
  { payment, transaction }: OnChain,
  at: string,
) {
  const { attempt, originalTransaction, reason } = yield* Effect.orDie(originalOf(input))
  const record = {
    version: 1,
    network: payment.network,
    asset: payment.authorization.asset,
    attempt,
    originalTransaction,
    refundTransaction: transaction,
    payer: payment.authorization.to,
    amount: amountAtomic.toString(),
    reason,
    issuedAt: Math.floor(Date.parse(at) / 1000),
  }
  return { record, jws: key === undefined ? "" : jwsOf(publicUrl, key, "x402-refund+jws", record) }
})
