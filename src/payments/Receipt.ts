/** The public proof of a payment, and what the answer's header says of it, for either rail. */
import { Context, Option, Result, Schema } from "effect"
import { Base64, Base64Url } from "effect/encoding"
import { hash } from "node:crypto"
import { type AnyReceipt, type Finality, priceUsd } from "../../schema/payments/Payment.ts"
import type { Attempt } from "./store/Attempt.ts"
import { centsOf, type ChainPayment, type Payment, type Proof, type RailName } from "./Payment.ts"
import { canonicalJson } from "../../schema/payments/CanonicalJson.ts"
import type { Recorded } from "./Act.ts"

/** An Ed25519 key by the name it has in the DID document. */
export interface PublishedKey {
  readonly name: string
  /** 32 bytes. */
  readonly publicKey: Uint8Array
}

export interface ReceiptKey extends PublishedKey {
  readonly sign: (bytes: Uint8Array) => Uint8Array
}

export interface ReceiptKeysConfig {
  /** Absent where a server stopped signing. */
  readonly current?: ReceiptKey | undefined
  /** Keys whose receipts stay valid. They sign no more. */
  readonly retired: ReadonlyArray<PublishedKey>
}

/** The keys of this server; without them settled acts carry no signed receipt. */
export const ReceiptKeys = Context.Reference<ReceiptKeysConfig | undefined>("spirit-altar/payments/ReceiptKeys", {
  defaultValue: () => undefined,
})

/** The DID of a server; a port is escaped, as did:web says. */
export const didOf = (publicUrl: string) => `did:web:${encodeURIComponent(new URL(publicUrl).host)}`

export const keyId = (publicUrl: string, { name }: PublishedKey) => `${didOf(publicUrl)}#${name}`

/** Served at `/.well-known/did.json`. A retired key stays a verification method and asserts nothing new. */
export const didDocument = (publicUrl: string, { current, retired }: ReceiptKeysConfig) => {
  const did = didOf(publicUrl)
  const signing = current === undefined ? [] : [current]
  return {
    "@context": ["https://www.w3.org/ns/did/v1", "https://w3id.org/security/suites/jws-2020/v1"],
    id: did,
    verificationMethod: [...signing, ...retired].map((key) => ({
      id: keyId(publicUrl, key),
      type: "JsonWebKey2020",
      controller: did,
      publicKeyJwk: { kty: "OKP", crv: "Ed25519", x: Buffer.from(key.publicKey).toString("base64url") },
    })),
    assertionMethod: signing.map((key) => keyId(publicUrl, key)),
  }
}

type OnChain = Extract<Proof, { readonly rail: "x402" }>

/**
 * The claims of a receipt. Up to `transaction` they are the extension's; `delivered` binds what was paid and what was
 * recorded: the act and its id, atomic amount, asset, payee, and the authorization's nonce. It adds SHA-256 over the
 * canonical JSON (RFC 8785) of the record, and what the act adds, such as a stone's sequence and leaf.
 */
const claimsOf = ({ act, amountAtomic, id, url }: Attempt, { payment, transaction }: OnChain, recorded: Recorded) => {
  const { authorization, network } = payment
  return {
    version: 1,
    network,
    resourceUrl: url,
    payer: authorization.from,
    issuedAt: Math.floor(Date.parse(recorded.at) / 1000),
    transaction,
    delivered: {
      act,
      id,
      amount: amountAtomic.toString(),
      asset: authorization.asset,
      payTo: authorization.to,
      nonce: authorization.nonce,
      record: hash("sha256", canonicalJson(recorded.record), "hex"),
      ...recorded.proven,
    },
  }
}

const encoded = (value: Schema.Json) => Base64Url.encode(canonicalJson(value))

/**
 * A compact JWS with EdDSA (RFC 7515, RFC 8037) over canonical JSON. Equal claims give equal bytes: Ed25519 draws
 * nothing.
 */
export const jwsOf = (publicUrl: string, key: ReceiptKey, typ: string, claims: Schema.JsonObject) => {
  const signed = `${encoded({ alg: "EdDSA", kid: keyId(publicUrl, key), typ })}.${encoded(claims)}`
  return `${signed}.${Base64Url.encode(key.sign(new TextEncoder().encode(signed)))}`
}

/** `extensions` of the settlement response that carries the receipt. */
export const receiptExtension = (
  publicUrl: string,
  key: ReceiptKey,
  attempt: Attempt,
  proof: OnChain,
  recorded: Recorded,
) => {
  const signature = jwsOf(publicUrl, key, "x402-receipt+jws", claimsOf(attempt, proof, recorded))
  return { "offer-receipt": { info: { receipt: { format: "jws", signature } }, schema: {} } }
}

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
  readonly rail: RailName
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

/** The header of a settled answer. */
export const responseHeaderOf = ({ rail }: Payment) => (rail === "card" ? "payment-receipt" : "payment-response")

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

/** Without the contract's limits: they may change, and stored headers of every age must decode. */
const Signed = Schema.Struct({ signature: Schema.String })
const Extensions = Schema.Struct({ "offer-receipt": Schema.Struct({ info: Schema.Struct({ receipt: Signed }) }) })
const signedOf = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Struct({ extensions: Extensions })))

/** The signed receipt in a stored `PAYMENT-RESPONSE`, a compact JWS; none for a card, or without a receipt key. */
export const signedReceiptIn = (header: string): Option.Option<string> =>
  Option.flatMap(Result.getSuccess(Base64.decodeString(header)), (text) =>
    Option.map(signedOf(text), ({ extensions }) => extensions["offer-receipt"].info.receipt.signature),
  )

/** The content of `PAYMENT-RESPONSE` while a payment is not settled, with x402's word for the reason. */
const unsettled = ({ authorization, network, transaction }: ChainPayment, errorReason: string) => ({
  success: false,
  errorReason,
  transaction: Option.getOrElse(transaction, () => ""),
  network,
  payer: authorization.from,
})

/** `PAYMENT-RESPONSE` of a 202; none for a card. No client may take it for a failure. */
export const pendingHeadersOf = (payment: Payment) =>
  payment.rail === "card"
    ? {}
    : { "payment-response": Base64.encode(JSON.stringify(unsettled(payment, "settlement_pending"))) }

/** The content of `PAYMENT-RESPONSE` in the refusal of a failed attempt; none for a card. */
export const failedResponseOf = (payment: Payment, reason: string) =>
  payment.rail === "card" ? {} : { settlement: unsettled(payment, reason) }
