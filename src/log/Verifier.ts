/** Verifies the signatures of notes synchronously, for servers and log witnesses. */
import { createPublicKey, type KeyObject, verify } from "node:crypto"
import { Result } from "effect"
import { Malformed, utf8 } from "../../schema/log/Bytes.ts"
import { cosignedBytes, parseCosignature } from "../../schema/log/Cosignature.ts"
import {
  keyIdInput,
  keyIdOf,
  type KeyType,
  keyTypes,
  type Note,
  parseVerifierKey,
  type Signature,
  type VerifierKey,
} from "../../schema/log/Note.ts"
import { sha256 } from "./Tree.ts"

export interface Verifier {
  readonly name: string
  readonly vkey: string
  /** Whether a signature line has this key's name and id. */
  readonly isNamed: (signature: Signature) => boolean
  /** Whether a signature under this key is valid for the text of a note. */
  readonly holds: (text: string, signature: Signature) => boolean
}

/** The DER prefixes of public keys: 32 bytes of Ed25519, 1,312 of ML-DSA-44. */
const ed25519Prefix = Buffer.from("302a300506032b6570032100", "hex")
const mlDsaPrefix = Buffer.from("30820532300b06096086480165030403110382052100", "hex")

/** ML-DSA-44 is missing before Node.js 24.6. */
const publicKeyOf = ({ name, publicKey, type }: VerifierKey): KeyObject | Malformed => {
  const prefix = type === keyTypes.mlDsa ? mlDsaPrefix : ed25519Prefix
  const found = Result.try(() =>
    createPublicKey({ key: Buffer.concat([prefix, publicKey]), format: "der", type: "spki" }),
  )
  return Result.getOrElse(
    found,
    () => new Malformed(`The key of ${name} is post-quantum (ML-DSA-44), which needs Node.js 24.6 or newer.`),
  )
}

/** Reads a verifier key of one of these types and checks that its id is its own. */
const verifierOf = (vkey: string, ...types: ReadonlyArray<KeyType>): Verifier | Malformed => {
  const parsed = parseVerifierKey(vkey)
  if (parsed instanceof Malformed) return parsed
  if (!types.includes(parsed.type)) {
    return new Malformed(`The key of ${parsed.name} is not of type ${types.join(" or ")}.`)
  }
  if (keyIdOf(sha256(keyIdInput(parsed))) !== parsed.id) {
    return new Malformed(`The id ${parsed.id} is not that of the key of ${parsed.name}.`)
  }
  const key = publicKeyOf(parsed)
  if (key instanceof Malformed) return key
  const isNamed = ({ id, name }: Signature) => name === parsed.name && id === parsed.id
  const holds: Verifier["holds"] = (text, signature) => {
    if (!isNamed(signature)) return false
    if (parsed.type === keyTypes.ed25519) return verify(null, utf8(text), key, signature.bytes)
    const cosignature = parseCosignature(signature.bytes)
    const signed = cosignature instanceof Malformed ? undefined : cosignedBytes(parsed, cosignature.seconds, text)
    return (
      !(cosignature instanceof Malformed) && signed !== undefined && verify(null, signed, key, cosignature.signature)
    )
  }
  return { name: parsed.name, vkey, isNamed, holds }
}

export const logVerifier = (vkey: string) => verifierOf(vkey, keyTypes.ed25519)

export const cosignatureVerifier = (vkey: string) => verifierOf(vkey, keyTypes.cosignature, keyTypes.mlDsa)

/** Whether the key has signed the note at least once and all its signatures are valid. */
export const isSignedBy = ({ signatures, text }: Note, verifier: Verifier): boolean => {
  const own = signatures.filter(verifier.isNamed)
  return own.length > 0 && own.every((signature) => verifier.holds(text, signature))
}
