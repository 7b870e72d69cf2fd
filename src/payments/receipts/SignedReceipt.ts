/** The signed receipt of a settled act (x402 extension `offer-receipt`). */
import { hash } from "node:crypto"
import type { Schema } from "effect"
import { Base64Url } from "effect/encoding"
import { canonicalJson } from "../../../schema/payments/CanonicalJson.ts"
import type { Attempt } from "../store/Attempt.ts"
import type { Recorded } from "../Act.ts"
import type { Proof } from "../Payment.ts"
import { keyId, type ReceiptKey } from "./ReceiptKeys.ts"

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
