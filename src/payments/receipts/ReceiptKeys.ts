/** The key that signs receipts, the keys before it, and the DID document that publishes them (W3C did:web). */
import { Context, type Schema } from "effect"
import { hash } from "node:crypto"
import { Base64Url } from "effect/encoding"
import { canonicalJson } from "../../../schema/payments/CanonicalJson.ts"
import type { Attempt } from "../store/Attempt.ts"
import type { Recorded } from "../Act.ts"
import type { Proof } from "../Payment.ts"

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
