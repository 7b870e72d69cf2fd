/** The public proof of a payment, and what the answer's header says of it, for either rail. */
import { Option, Result, Schema } from "effect"
import { Base64, Base64Url } from "effect/encoding"
import { type AnyReceipt, type Finality, priceUsd } from "../../schema/payments/Payment.ts"
import type { Attempt } from "./store/Attempt.ts"
import { centsOf, type ChainPayment, type Proof, type Rail } from "./Payment.ts"

/** Builds the receipt. `explorer` has `{tx}` in place of the hash; `settledAt` is RFC 3339 UTC with milliseconds. */
export const receiptOf = (
  { amountAtomic, url }: Attempt,
  proof: Proof,
  settledAt: string,
  explorer: string,
): AnyReceipt => {
  const paid = { amountAtomic: amountAtomic.toString(), priceUsd: priceUsd(amountAtomic) }
  if (proof.rail === "card") {
    const card = {
      method: "stripe",
      reference: proof.intent,
      currency: "usd",
      amountCents: centsOf(amountAtomic).toString(),
    } as const
    const none = { transaction: null, network: null, asset: null }
    return { ...none, ...paid, payer: null, payTo: null, settledAt, explorerUrl: null, binding: null, card }
  }
  const { authorization, binding, network } = proof.payment
  return {
    transaction: proof.transaction,
    network,
    asset: authorization.asset,
    ...paid,
    payer: authorization.from,
    payTo: authorization.to,
    settledAt,
    explorerUrl: explorer.replace("{tx}", proof.transaction),
    binding:
      binding === undefined
        ? null
        : { version: 1, salt: binding.salt, method: "POST", url, bodySha256: binding.bodySha256 },
  }
}

/** The current state of a settled payment, read with its stored receipt. */
export interface ReceiptState {
  readonly rail: Rail
  readonly finality: Finality
  readonly currentTransaction: string | null
  readonly refund: Schema.JsonObject | null
}

/** A stored receipt with its current finality and refund. A card's receipt stays as stored. */
export const currentReceipt = (
  stored: Schema.JsonObject,
  { currentTransaction, finality, rail, refund }: ReceiptState,
): Schema.JsonObject =>
  rail === "card"
    ? stored
    : {
        ...stored,
        finality,
        ...(currentTransaction === null ? {} : { currentTransaction }),
        ...(refund === null ? {} : { refund }),
      }

/** The content of `PAYMENT-RESPONSE` (x402), or of `Payment-Receipt` (card); `extensions` holds a signed receipt. */
export const responseOf = (proof: Proof, settledAt: string, extensions?: Schema.JsonObject): string =>
  proof.rail === "card"
    ? Base64Url.encode(
        JSON.stringify({ method: "stripe", reference: proof.intent, status: "success", timestamp: settledAt }),
      )
    : Base64.encode(
        JSON.stringify({
          success: true,
          transaction: proof.transaction,
          network: proof.payment.network,
          payer: proof.payment.authorization.from,
          ...(extensions === undefined ? {} : { extensions }),
        }),
      )

/** Entries of the log are made of it for ever, so no limit of the contract, which may change, is part of it. */
const Signed = Schema.Struct({ signature: Schema.String })
const Extensions = Schema.Struct({ "offer-receipt": Schema.Struct({ info: Schema.Struct({ receipt: Signed }) }) })
const signedOf = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Struct({ extensions: Extensions })))

/** The signed receipt in a stored `PAYMENT-RESPONSE`, a compact JWS; none for a card, or without a receipt key. */
export const signedReceiptIn = (header: string): Option.Option<string> =>
  Option.flatMap(Result.getSuccess(Base64.decodeString(header)), (text) =>
    Option.map(signedOf(text), ({ extensions }) => extensions["offer-receipt"].info.receipt.signature),
  )

/** `PAYMENT-RESPONSE` of a 202, by x402's word for an unknown outcome. No client may take it for a failure. */
export const pendingResponseOf = ({ authorization, network, transaction }: ChainPayment): string =>
  Base64.encode(
    JSON.stringify({
      success: false,
      errorReason: "settlement_pending",
      transaction: Option.getOrElse(transaction, () => ""),
      network,
      payer: authorization.from,
    }),
  )
