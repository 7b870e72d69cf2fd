/** The two ways an attempt is paid, as they lie in its row: an authorization for the chain, or a card's granted token. */
import { createHash } from "node:crypto"
import { Option, Redacted } from "effect"
import type { Hex } from "viem"
import type { Address } from "../../schema/Common.ts"
import type { SignedAuthorization } from "./x402/Eip3009.ts"

export type Rail = "x402" | "card"

/** A signed authorization, and where its transfer may be found. */
export interface ChainPayment {
  readonly rail: "x402"
  /** CAIP-2. */
  readonly network: string
  readonly authorization: SignedAuthorization
  /** First block whose logs can hold the transfer. */
  readonly fromBlock: bigint
  readonly transaction: Option.Option<Hex>
}

/** A token that a card's holder granted to our profile for one charge. */
export interface CardPayment {
  readonly rail: "card"
  readonly profile: string
  /** The challenge it was granted for. */
  readonly challenge: string
  readonly token: Redacted.Redacted<string>
  /** The processor's payment intent, once it is known. */
  readonly intent: Option.Option<string>
}

export type Payment = ChainPayment | CardPayment

export { centsOf } from "../../schema/payments/Usdc.ts"

/** What proves that an attempt was paid. */
export type Proof =
  | {
      readonly rail: "x402"
      readonly payment: ChainPayment
      readonly transaction: Hex
      /** Number of the block that held it when it was found. */
      readonly block: bigint
    }
  | { readonly rail: "card"; readonly intent: string }

/** A payment as columns. */
export interface PaymentColumns {
  readonly rail: string
  readonly network: string
  readonly asset: string
  readonly payTo: string
  readonly payer: string
  readonly nonce: string
  readonly validAfter: string
  readonly validBefore: bigint
  readonly signature: string
  readonly fromBlock: bigint
  readonly transaction: string | null
}

/** The last second of the year 9999: nothing on a chain ends a card attempt. */
const endless = 253_402_300_799n

export const columnsOf = (payment: Payment): PaymentColumns => {
  if (payment.rail === "card") {
    return {
      rail: "card",
      network: "card",
      asset: "usd",
      payTo: payment.profile,
      payer: "",
      nonce: payment.challenge,
      validAfter: "0",
      validBefore: endless,
      signature: Redacted.value(payment.token),
      fromBlock: 0n,
      transaction: Option.getOrNull(payment.intent),
    }
  }
  const { authorization, fromBlock, network, transaction } = payment
  return {
    rail: "x402",
    network,
    asset: authorization.asset,
    payTo: authorization.to,
    payer: authorization.from,
    nonce: authorization.nonce,
    validAfter: authorization.validAfter.toString(),
    validBefore: authorization.validBefore,
    signature: authorization.signature,
    fromBlock,
    transaction: Option.getOrNull(transaction),
  }
}

/** The row as the driver returns it; which type its texts have, its rail says. */
export interface PaymentRow {
  readonly rail: Rail
  readonly network: string
  readonly asset: Address
  readonly payTo: Address
  readonly payer: Address
  readonly nonce: Hex
  readonly amountAtomic: string
  readonly validAfter: string
  readonly validBefore: bigint
  readonly signature: Hex
  readonly fromBlock: bigint
  readonly transaction: Hex | null
}

export const paymentOf = (row: PaymentRow): Payment =>
  row.rail === "card"
    ? {
        rail: "card",
        profile: row.payTo,
        challenge: row.nonce,
        token: Redacted.make(row.signature),
        intent: Option.fromNullishOr(row.transaction),
      }
    : {
        rail: "x402",
        network: row.network,
        authorization: {
          asset: row.asset,
          from: row.payer,
          to: row.payTo,
          value: BigInt(row.amountAtomic),
          validAfter: BigInt(row.validAfter),
          validBefore: row.validBefore,
          nonce: row.nonce,
          signature: row.signature,
        },
        fromBlock: row.fromBlock,
        transaction: Option.fromNullishOr(row.transaction),
      }

/** The claim that lets an authorization or a token belong to one attempt only. */
export const claimOf = (payment: Payment): string => {
  if (payment.rail === "card") {
    return `card:${createHash("sha256").update(Redacted.value(payment.token)).digest("hex")}`
  }
  const { asset, from, nonce } = payment.authorization
  return `authorization:${payment.network}:${asset}:${from}:${nonce}`.toLowerCase()
}
