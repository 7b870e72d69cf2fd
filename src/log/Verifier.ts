/** Verifies the signatures of notes synchronously, for servers. */
import { createPublicKey, verify } from "node:crypto"
import { Malformed, utf8 } from "../../schema/log/Bytes.ts"
import { cosignedBytes, parseCosignature } from "../../schema/log/Cosignature.ts"
import { type KeyType, keyTypes, type Note, parseVerifierKey, type Signature } from "../../schema/log/Note.ts"
import { isVerifierKey } from "./Signer.ts"

export interface Verifier {
  readonly name: string
  readonly vkey: string
  /** Whether a signature line has this key's name and id. */
  readonly isNamed: (signature: Signature) => boolean
  /** Whether a signature under this key is valid for the text of a note. */
  readonly holds: (text: string, signature: Signature) => boolean
}

/** The DER prefix of an Ed25519 public key. */
const ed25519Prefix = Buffer.from("302a300506032b6570032100", "hex")

/** Reads a verifier key of this type and checks that its id is its own. */
const verifierOf = (vkey: string, type: KeyType): Verifier | Malformed => {
  const parsed = parseVerifierKey(vkey)
  if (parsed instanceof Malformed) return parsed
  if (parsed.type !== type) return new Malformed(`The key of ${parsed.name} is not of type ${type}.`)
  if (!isVerifierKey(parsed)) {
    return new Malformed(`The id ${parsed.id} is not that of the key of ${parsed.name}.`)
  }
  const der = Buffer.concat([ed25519Prefix, parsed.publicKey])
  const key = createPublicKey({ key: der, format: "der", type: "spki" })
  const isNamed = ({ id, name }: Signature) => name === parsed.name && id === parsed.id
  const holds: Verifier["holds"] = (text, signature) => {
    if (!isNamed(signature)) return false
    if (type === keyTypes.ed25519) return verify(null, utf8(text), key, signature.bytes)
    const cosignature = parseCosignature(signature.bytes)
    return (
      !(cosignature instanceof Malformed) &&
      verify(null, cosignedBytes(cosignature.seconds, text), key, cosignature.signature)
    )
  }
  return { name: parsed.name, vkey, isNamed, holds }
}

export const logVerifier = (vkey: string) => verifierOf(vkey, keyTypes.ed25519)

export const cosignatureVerifier = (vkey: string) => verifierOf(vkey, keyTypes.cosignature)

/** Whether the key has signed the note at least once and all its signatures are valid. */
export const isSignedBy = ({ signatures, text }: Note, verifier: Verifier): boolean => {
  const own = signatures.filter(verifier.isNamed)
  return own.length > 0 && own.every((signature) => verifier.holds(text, signature))
}
