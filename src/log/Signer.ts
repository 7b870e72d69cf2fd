/** The log's Ed25519 key, in the text form of Go's note package. Its holder can sign for the log. */
import { createPrivateKey, createPublicKey, type KeyObject, randomBytes, sign } from "node:crypto"
import { Redacted, Result, Schema } from "effect"
import { type Bytes, concat, Malformed, utf8 } from "../../schema/log/Bytes.ts"
import { type Checkpoint, checkpointText, cosignatureBytes, cosignedBytes } from "../../schema/log/Checkpoint.ts"
import {
  isKeyName,
  keyIdInput,
  keyIdOf,
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
}

/** The key of a log witness. */
export interface Cosigner {
  readonly name: string
  /** A verifier key of the cosignature type. */
  readonly vkey: string
  /** The signature line for the text of a checkpoint; `seconds` since 1970. */
  readonly line: (text: string, seconds: number) => string
}

/** The PKCS #8 prefix of a 32-byte seed. */
const pkcs8Prefix = Buffer.from("302e020100300506032b657004220420", "hex")

const privateKeyOf = (seed: Uint8Array): KeyObject =>
  createPrivateKey({ key: Buffer.concat([pkcs8Prefix, seed]), format: "der", type: "pkcs8" })

/** The last 32 bytes of a DER public key are the key. */
const publicKeyOf = (key: KeyObject): Bytes =>
  Uint8Array.from(createPublicKey(key).export({ format: "der", type: "spki" }).subarray(-32))

const type = keyTypes.ed25519

/** Decodes a key. Logs and witnesses use the same format and differ in the type of their signatures. */
const keyFrom = (text: Redacted.Redacted<string>) => {
  const parsed = parseSignerKey(Redacted.value(text))
  if (parsed instanceof Malformed) return Result.fail(new LogKeyInvalid({ message: parsed.message }))
  const { id, name } = parsed
  if (parsed.type !== type) {
    return Result.fail(new LogKeyInvalid({ message: `The key of ${name} is not of type 1 (Ed25519).` }))
  }
  const key = privateKeyOf(parsed.seed)
  const publicKey = publicKeyOf(key)
  if (keyIdOf(sha256(keyIdInput({ name, type, publicKey }))) !== id) {
    return Result.fail(new LogKeyInvalid({ message: `The id in the key of ${name} is not that of its public key.` }))
  }
  return Result.succeed({ name, id, key, publicKey })
}

export const fromText = (text: Redacted.Redacted<string>): Result.Result<Signer, LogKeyInvalid> =>
  Result.map(keyFrom(text), ({ id, key, name, publicKey }) => ({
    name,
    vkey: verifierKeyText({ name, id, type, publicKey }),
    note: (checkpoint) => {
      const signed = checkpointText(checkpoint)
      const bytes = Uint8Array.from(sign(null, utf8(signed), key))
      return noteText({ text: signed, signatures: [{ name, id, bytes }] })
    },
  }))

/** Whether the id of a verifier key is that of its name and bytes. */
export const isVerifierKey = (key: VerifierKey) => keyIdOf(sha256(keyIdInput(key))) === key.id

/** A key of the same text form that signs other things than checkpoints: its name, its 32 public bytes, and how it signs. */
export const plainFrom = (text: Redacted.Redacted<string>) =>
  Result.map(keyFrom(text), ({ key, name, publicKey }) => ({
    name,
    publicKey,
    sign: (bytes: Uint8Array): Uint8Array => sign(null, bytes, key),
  }))

/** The cosigner of a key's text. */
export const cosignerFrom = (text: Redacted.Redacted<string>): Result.Result<Cosigner, LogKeyInvalid> =>
  Result.map(keyFrom(text), ({ key, name, publicKey }) => {
    const own = { name, type: keyTypes.cosignature, publicKey }
    const id = keyIdOf(sha256(keyIdInput(own)))
    return {
      name,
      vkey: verifierKeyText({ ...own, id }),
      line: (signed, seconds) => {
        const signature = Uint8Array.from(sign(null, cosignedBytes(seconds, signed), key))
        return signatureLine({ name, id, bytes: cosignatureBytes(seconds, signature) })
      },
    }
  })

/** The text of a key with this seed of 32 bytes. */
const textOf = (name: string, seed: Bytes) => {
  const publicKey = publicKeyOf(privateKeyOf(seed))
  const id = keyIdOf(sha256(keyIdInput({ name, type, publicKey })))
  return Redacted.make(signerKeyText({ name, id, type, seed }))
}

/** Generates a key under a name, the log's origin, with the system's random generator. */
export const generate = (name: string): Result.Result<Redacted.Redacted<string>, LogKeyInvalid> =>
  isKeyName(name)
    ? Result.succeed(textOf(name, concat(randomBytes(32))))
    : Result.fail(new LogKeyInvalid({ message: "A key's name is the log's origin: no white space and no plus sign." }))

/** The origin of a server's log: its public URL without scheme, followed by the log's path. */
export const originOf = (publicUrl: string): string =>
  `${publicUrl.replace(/^[a-z]+:\/\//u, "").replace(/\/+$/u, "")}/log`
