/** A payment of either rail as stored: a signed authorization for the chain, or a card's granted token. */
import { createHash } from "node:crypto"
import { Effect, type Option, Redacted, Schema } from "effect"
import type { Hex } from "viem"
import { timestampOf } from "../platform/Time.ts"
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

/** The name of a rail, as attempts store it. */
export type RailName = Payment["rail"]
const listed: { readonly [Name in RailName]: Name } = { x402: "x402", card: "card" }
export const railNames: ReadonlyArray<RailName> = Object.values(listed)

export type PaymentOf<R extends RailName> = Extract<Payment, { readonly rail: R }>
export type ProofOf<R extends RailName> = Extract<Proof, { readonly rail: R }>

export const encodePayment = Schema.encodeSync(Payment)

/** When a signed payment expires, as RFC 3339. */
export const expiryOf = ({ authorization }: ChainPayment) => timestampOf(Number(authorization.validBefore) * 1000)

/** The members by which the answer about a pending attempt shows its payment. */
export const shownOf = (payment: Payment) =>
  payment.rail === "card"
    ? { network: null, validBefore: null }
    : { network: payment.network, validBefore: expiryOf(payment) }

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

/** The transaction or intent that a payment was made in, as far as recorded. */
export const referenceOf = (payment: Payment): Option.Option<string> =>
  payment.rail === "card" ? payment.intent : payment.transaction

/** The member that names where a payment was made, to merge into its column. */
export const madeIn = (rail: RailName, reference: string) =>
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

export const isRejected = (error: unknown): error is PaymentRejected => error instanceof PaymentRejected

/** The refusal of a payment that may have paid or may still pay: the chain was not asked, or only at one moment. */
export const refuse = (reason: string, message: string) =>
  new PaymentRejected({ reason, message: `${message} This request charged nothing.` })

/** The same refusal, of one member of the payment. */
export const refuseMember = (reason: string, member: string, fault: string) =>
  new PaymentRejected({ reason, member, message: `${member} ${fault} This request charged nothing.` })
