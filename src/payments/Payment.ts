/** A payment of either rail as stored: a signed authorization for the chain, or a card's granted token. */
import { createHash } from "node:crypto"
import { Effect, Redacted, Schema } from "effect"
import type { Hex } from "viem"
import { SignedAuthorization, Word } from "./x402/chain/Eip3009.ts"

export { centsOf } from "../../schema/payments/Usdc.ts"

const ChainPayment = Schema.Struct({
  rail: Schema.Literal("x402"),
  network: Schema.String,
  authorization: SignedAuthorization,
  /** The first block that can hold the transfer. */
  fromBlock: Schema.BigIntFromString,
  transaction: Schema.OptionFromOptionalKey(Word),
  /** The source of a derived nonce, beside the attempt's URL; absent for a random nonce. */
  binding: Schema.optionalKey(Schema.Struct({ salt: Schema.String, bodySha256: Schema.String })),
})
export type ChainPayment = typeof ChainPayment.Type

/** A token that a card's holder granted to our profile for one charge. */
const CardPayment = Schema.Struct({
  rail: Schema.Literal("card"),
  profile: Schema.String,
  challenge: Schema.String,
  /** Empty once the attempt has ended: the token is erased when it is no longer needed. */
  token: Schema.RedactedFromValue(Schema.String).pipe(Schema.withDecodingDefaultKey(Effect.succeed(""))),
  intent: Schema.OptionFromOptionalKey(Schema.String),
})
export type CardPayment = typeof CardPayment.Type

export const Payment = Schema.Union([ChainPayment, CardPayment])
export type Payment = typeof Payment.Type
export type Rail = Payment["rail"]

export const encodePayment = Schema.encodeSync(Payment)

export type Proof =
  | {
      readonly rail: "x402"
      readonly payment: ChainPayment
      readonly transaction: Hex
      /** The block that held it when it was found. */
      readonly block: bigint
    }
  | { readonly rail: "card"; readonly intent: string }

/** The claims of `claimOf`, as a regular expression of PostgreSQL. No failure frees them. */
export const bindingPattern = "^(authorization|card):"

/** The claim that binds an authorization or a token to one attempt, for ever. */
export const claimOf = (payment: Pick<ChainPayment, "rail" | "network" | "authorization"> | CardPayment): string => {
  if (payment.rail === "card") {
    return `card:${createHash("sha256").update(Redacted.value(payment.token)).digest("hex")}`
  }
  const { asset, from, nonce } = payment.authorization
  return `authorization:${payment.network}:${asset}:${from}:${nonce}`.toLowerCase()
}

/** The member that names where a payment was made, to merge into its column. */
export const madeIn = (rail: Rail, reference: string) =>
  rail === "card" ? { intent: reference } : { transaction: reference }

/**
 * A payment that is not accepted. `reason` is the x402 code; `message` tells the payer what to change. `member` is the
 * member of the payment at fault, if one is.
 */
export class PaymentRejected extends Schema.TaggedError<PaymentRejected>()("PaymentRejected", {
  reason: Schema.String,
  message: Schema.String,
  member: Schema.optionalKey(Schema.String),
}) {}
