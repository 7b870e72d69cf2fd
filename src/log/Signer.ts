/** Keys of logs (Ed25519) and of log witnesses (also ML-DSA-44), in the text form of Go's note package. */
import { createPrivateKey, createPublicKey, hkdfSync, type KeyObject, randomBytes, sign } from "node:crypto"
import { Redacted, Result, Schema } from "effect"
import { type Bytes, concat, Malformed, utf8 } from "../../schema/log/Bytes.ts"
import { type Checkpoint, checkpointText } from "../../schema/log/Checkpoint.ts"
import { cosignatureBytes, cosignedBytes } from "../../schema/log/Cosignature.ts"
import {
  isKeyName,
  keyIdInput,
  keyIdOf,
  type KeyType,
  keyTypes,
  noteText,
  parseSignerKey,
  signatureLine,
  signerKeyText,
  type VerifierKey,
  verifierKeyText,
} from "../../schema/log/Note.ts"
import { sha256 } from "./Tree.ts"

/** The configured key is invalid. The message does not quote it. */
export class LogKeyInvalid extends Schema.TaggedError<LogKeyInvalid>()("LogKeyInvalid", { message: Schema.String }) {}

export interface Signer {
  readonly name: string
  /** The public key as text, `name+hash+base64`, with which readers verify checkpoints. */
  readonly vkey: string
  /** The checkpoint as a note with the log's one signature; the same bytes each time. */
  readonly note: (checkpoint: Checkpoint) => string
  /** The signer of another log of the same operator, by a key of its own that follows from this one. */
  readonly derived: (name: string, purpose: string) => Signer
}

/** The key of a log witness. */
export interface Cosigner {
  readonly name: string
  /** A verifier key of the cosignature type. */
  readonly vkey: string
  /** The line for the text of a checkpoint, `seconds` since 1970; another one each time by ML-DSA-44. */
  readonly line: (text: string, seconds: number) => string | undefined
}

const { ed25519, mlDsa } = keyTypes

/** The types of private keys. */
export type SignerType = typeof ed25519 | typeof mlDsa

/** The PKCS #8 prefixes of a 32-byte seed, and the length of the public key, which ends its DER form. */
const forms = {
  [ed25519]: { prefix: Buffer.from("302e020100300506032b657004220420", "hex"), length: 32 },
  [mlDsa]: { prefix: Buffer.from("3034020100300b060960864801650304031104228020", "hex"), length: 1_312 },
}

const pairOf = (type: SignerType, seed: Uint8Array): { readonly key: KeyObject; readonly publicKey: Bytes } => {
  const { length, prefix } = forms[type]
  const key = createPrivateKey({ key: Buffer.concat([prefix, seed]), format: "der", type: "pkcs8" })
  const spki = createPublicKey(key).export({ format: "der", type: "spki" })
  return { key, publicKey: Uint8Array.from(spki.subarray(-length)) }
}

/** The keys of a seed. ML-DSA-44 is missing before Node.js 24.6. */
const madeOf = (type: SignerType, seed: Uint8Array) =>
  Result.try({
    try: () => pairOf(type, seed),
    catch: () => new LogKeyInvalid({ message: "A post-quantum key (ML-DSA-44) needs Node.js 24.6 or newer." }),
  })

const isSignerType = (type: KeyType): type is SignerType => type in forms

/** Decodes a key. Logs and witnesses use the same format and differ in the type of their signatures. */
const keyFrom = (text: Redacted.Redacted<string>, ...types: ReadonlyArray<SignerType>) => {
  const parsed = parseSignerKey(Redacted.value(text))
  if (parsed instanceof Malformed) return Result.fail(new LogKeyInvalid({ message: parsed.message }))
  const { id, name, type } = parsed
  if (!isSignerType(type) || !types.includes(type)) {
    const message = `The key of ${name} is not of type ${types.map((one) => (one === mlDsa ? "6 (ML-DSA-44)" : "1 (Ed25519)")).join(" or ")}.`
    return Result.fail(new LogKeyInvalid({ message }))
  }
  return Result.flatMap(madeOf(type, parsed.seed), ({ key, publicKey }) =>
    keyIdOf(sha256(keyIdInput({ name, type, publicKey }))) === id
      ? Result.succeed({ name, id, type, key, publicKey, seed: parsed.seed })
      : Result.fail(new LogKeyInvalid({ message: `The id in the key of ${name} is not that of its public key.` })),
  )
}

const signerOf = (name: string, seed: Uint8Array): Signer => {
  const { key, publicKey } = pairOf(ed25519, seed)
  const own = { name, type: ed25519, publicKey }
  const id = keyIdOf(sha256(keyIdInput(own)))
  return {
    name,
    vkey: verifierKeyText({ ...own, id }),
    note: (checkpoint) => {
      const signed = checkpointText(checkpoint)
      const bytes = Uint8Array.from(sign(null, utf8(signed), key))
      return noteText({ text: signed, signatures: [{ name, id, bytes }] })
    },
    derived: (other, purpose) => signerOf(other, new Uint8Array(hkdfSync("sha256", seed, "", purpose, 32))),
  }
}

export const fromText = (text: Redacted.Redacted<string>): Result.Result<Signer, LogKeyInvalid> =>
  Result.map(keyFrom(text, ed25519), ({ name, seed }) => signerOf(name, seed))

/** Whether the id of a verifier key is that of its name and bytes. */
export const isVerifierKey = (key: VerifierKey) => keyIdOf(sha256(keyIdInput(key))) === key.id

/** The text of a verifier key, with its id; of Ed25519 unless it says otherwise. */
export const verifierKeyOf = ({
  name,
  publicKey,
  type = ed25519,
}: {
  readonly name: string
  readonly publicKey: Uint8Array
  readonly type?: KeyType
}): string => {
  const key = { name, type, publicKey: concat(publicKey) }
  return verifierKeyText({ ...key, id: keyIdOf(sha256(keyIdInput(key))) })
}

/** A key of the same text form that signs other things than checkpoints: its name, its 32 public bytes, and how it signs. */
export const plainFrom = (text: Redacted.Redacted<string>) =>
  Result.map(keyFrom(text, ed25519), ({ key, name, publicKey }) => ({
    name,
    publicKey,
    sign: (bytes: Uint8Array): Uint8Array => sign(null, bytes, key),
  }))

/** The cosigner of a key's text. */
export const cosignerFrom = (text: Redacted.Redacted<string>): Result.Result<Cosigner, LogKeyInvalid> =>
  Result.map(keyFrom(text, ed25519, mlDsa), ({ key, name, publicKey, type }) => {
    const own = { name, type: type === mlDsa ? mlDsa : keyTypes.cosignature, publicKey }
    const id = keyIdOf(sha256(keyIdInput(own)))
    return {
      name,
      vkey: verifierKeyOf(own),
      line: (text, seconds) => {
        const signed = cosignedBytes(own, seconds, text)
        if (signed === undefined) return undefined
        return signatureLine({ name, id, bytes: cosignatureBytes(seconds, sign(null, signed, key)) })
      },
    }
  })

/** The text of a key with this seed of 32 bytes. */
const textOf = (name: string, seed: Bytes, type: SignerType) =>
  Result.map(madeOf(type, seed), ({ publicKey }) => {
    const id = keyIdOf(sha256(keyIdInput({ name, type, publicKey })))
    return Redacted.make(signerKeyText({ name, id, type, seed }))
  })

/** Generates a key under a name, the log's origin, with the system's random generator. */
export const generate = (
  name: string,
  type: SignerType = ed25519,
): Result.Result<Redacted.Redacted<string>, LogKeyInvalid> =>
  isKeyName(name)
    ? textOf(name, concat(randomBytes(32)), type)
    : Result.fail(new LogKeyInvalid({ message: "A key's name is the log's origin: no white space and no plus sign." }))

/** The origin of a server's log: its public URL without scheme, followed by the log's path. */
export const originOf = (publicUrl: string): string =>
  `${publicUrl.replace(/^[a-z]+:\/\//u, "").replace(/\/+$/u, "")}/log`
