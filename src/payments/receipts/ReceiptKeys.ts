/** The key that signs receipts, the keys before it, and the DID document that publishes them (W3C did:web). */
import { Context } from "effect"

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
