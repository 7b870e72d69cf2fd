/** A compact JWS with EdDSA (RFC 7515, RFC 8037) over canonical JSON. */
import type { Schema } from "effect"
import { Base64Url } from "effect/encoding"
import { canonicalJson } from "../../../schema/payments/CanonicalJson.ts"
import { keyId, type ReceiptKey } from "./ReceiptKeys.ts"

/** The type in the header, by which no offer passes as a receipt. */
export type Type = "x402-receipt+jws"

const encoded = (value: Schema.Json) => Base64Url.encode(canonicalJson(value))

/** Equal claims give equal bytes: Ed25519 draws nothing. */
export const jwsOf = (publicUrl: string, key: ReceiptKey, typ: Type, claims: Schema.JsonObject) => {
  const signed = `${encoded({ alg: "EdDSA", kid: keyId(publicUrl, key), typ })}.${encoded(claims)}`
  return `${signed}.${Base64Url.encode(key.sign(new TextEncoder().encode(signed)))}`
}
