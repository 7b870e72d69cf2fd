/** The two rails of an attempt as stored in its row: an authorization for the chain, or a card's granted token. */
import { createHash } from "node:crypto"
import { Effect, Option, Redacted, Schema } from "effect"
import type { Hex } from "viem"
import { rowReader } from "../platform/Rows.ts"
import type { SignedAuthorization } from "./chain/Eip3009.ts"
import { AddressText, HexText, Word } from "./Hex.ts"

export type Rail = "x402" | "card"

export interface ChainPayment {
  readonly rail: "x402"
  readonly network: string
  readonly authorization: SignedAuthorization
  /** The first block that can hold the transfer. */
  readonly fromBlock: bigint
  readonly transaction: Option.Option<Hex>
}

/** A token that a card's holder granted to our profile for one charge. */
export interface CardPayment {
  readonly rail: "card"
  readonly profile: string
  readonly challenge: string
  readonly token: Redacted.Redacted<string>
  /** The processor's payment intent, once known. */
  readonly intent: Option.Option<string>
}

export type Payment = ChainPayment | CardPayment

export { centsOf } from "../../schema/payments/Usdc.ts"

export type Proof =
  | {
      readonly rail: "x402"
      readonly payment: ChainPayment
      readonly transaction: Hex
      /** The block that held it when it was found. */
      readonly block: bigint
    }
  | { readonly rail: "card"; readonly intent: string }

/** The last second of the year 9999: a card attempt has no end on chain. */
const endless = 253_402_300_799n

/** The columns of a payment by name, numbers as text. */
export const columnsOf = (payment: Payment) => {
  if (payment.rail === "card") {
    return {
      rail: payment.rail,
      network: "card",
      asset: "usd",
      pay_to: payment.profile,
      payer: "",
      nonce: payment.challenge,
      valid_after: "0",
      valid_before: String(endless),
      signature: Redacted.value(payment.token),
      from_block: "0",
      transaction: Option.getOrNull(payment.intent),
    }
  }
  const { authorization, fromBlock, network, rail, transaction } = payment
  return {
    rail,
    network,
    asset: authorization.asset,
    pay_to: authorization.to,
    payer: authorization.from,
    nonce: authorization.nonce,
    valid_after: String(authorization.validAfter),
    valid_before: String(authorization.validBefore),
    signature: authorization.signature,
    from_block: String(fromBlock),
    transaction: Option.getOrNull(transaction),
  }
}

/** The SQL columns that a payment is read from. Numbers beyond 64 bits come as text. */
export const paymentColumns: ReadonlyArray<string> = [
  "rail, network, asset, pay_to, payer, nonce, signature, from_block, transaction, valid_before",
  "amount_atomic::text AS amount_atomic, valid_after::text AS valid_after",
]

const ChainRow = Schema.Struct({
  rail: Schema.Literal("x402"),
  network: Schema.String,
  asset: AddressText,
  payTo: AddressText,
  payer: AddressText,
  nonce: Word,
  amountAtomic: Schema.BigIntFromString,
  validAfter: Schema.BigIntFromString,
  validBefore: Schema.BigInt,
  signature: HexText,
  fromBlock: Schema.BigInt,
  transaction: Schema.OptionFromNullOr(Word),
})

const CardRow = Schema.Struct({
  rail: Schema.Literal("card"),
  payTo: Schema.String,
  nonce: Schema.String,
  signature: Schema.String,
  transaction: Schema.OptionFromNullOr(Schema.String),
})

const chainPaymentOf = (row: typeof ChainRow.Type): ChainPayment => ({
  rail: "x402",
  network: row.network,
  authorization: {
    asset: row.asset,
    from: row.payer,
    to: row.payTo,
    value: row.amountAtomic,
    validAfter: row.validAfter,
    validBefore: row.validBefore,
    nonce: row.nonce,
    signature: row.signature,
  },
  fromBlock: row.fromBlock,
  transaction: row.transaction,
})

const cardPaymentOf = (row: typeof CardRow.Type): CardPayment => ({
  rail: "card",
  profile: row.payTo,
  challenge: row.nonce,
  token: Redacted.make(row.signature),
  intent: row.transaction,
})

const readEither = rowReader("payment_attempts", Schema.Union([ChainRow, CardRow]))
const readChain = rowReader("payment_attempts", ChainRow)

/** Reads the payment in a row of `payment_attempts`. Its rail decides the meaning of the columns. */
export const readPayment = (row: unknown): Effect.Effect<Payment> =>
  Effect.map(readEither(row), (one) => (one.rail === "card" ? cardPaymentOf(one) : chainPaymentOf(one)))

/** Reads the payment in a row that is paid on chain. */
export const readChainPayment = (row: unknown): Effect.Effect<ChainPayment> =>
  Effect.map(readChain(row), chainPaymentOf)

/** The claims of `claimOf`, as a regular expression of PostgreSQL. No failure frees them. */
export const bindingPattern = "^(authorization|card):"

/** The claim that binds an authorization or a token to one attempt, for ever. */
export const claimOf = (payment: Payment): string => {
  if (payment.rail === "card") {
    return `card:${createHash("sha256").update(Redacted.value(payment.token)).digest("hex")}`
  }
  const { asset, from, nonce } = payment.authorization
  return `authorization:${payment.network}:${asset}:${from}:${nonce}`.toLowerCase()
}
