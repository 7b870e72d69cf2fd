/** Keys of logs and receipts (Ed25519), in the text form of Go's note package. */
import { createPrivateKey, createPublicKey, type KeyObject, randomBytes, sign } from "node:crypto"
import { Redacted, Result, Schema } from "effect"
import { type Bytes, concat, Malformed, utf8 } from "../../schema/log/Bytes.ts"
import { type Checkpoint, checkpointText } from "../../schema/log/Checkpoint.ts"
import {
  isKeyName,
  keyIdInput,
  keyIdOf,
  type KeyType,
  keyTypes,
  noteText,
  parseSignerKey,
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

const { ed25519 } = keyTypes

/** The PKCS #8 prefix of a 32-byte seed. */
const prefix = Buffer.from("302e020100300506032b657004220420", "hex")

const pairOf = (seed: Uint8Array): { readonly key: KeyObject; readonly publicKey: Bytes } => {
  const key = createPrivateKey({ key: Buffer.concat([prefix, seed]), format: "der", type: "pkcs8" })
  const spki = createPublicKey(key).export({ format: "der", type: "spki" })
  return { key, publicKey: Uint8Array.from(spki.subarray(-32)) }
}

/** The id of a key: the first bytes of the hash of its name, type and bytes. */
export const idOf = (key: Omit<VerifierKey, "id">) => keyIdOf(sha256(keyIdInput(key)))

/** Decodes a key. */
const keyFrom = (text: Redacted.Redacted<string>) => {
  const parsed = parseSignerKey(Redacted.value(text))
  if (parsed instanceof Malformed) return Result.fail(new LogKeyInvalid({ message: parsed.message }))
  const { id, name, seed, type } = parsed
  if (type !== ed25519) {
    return Result.fail(new LogKeyInvalid({ message: `The key of ${name} is not of type 1 (Ed25519).` }))
  }
  const { key, publicKey } = pairOf(seed)
  return idOf({ name, type, publicKey }) === id
    ? Result.succeed({ name, id, type, key, publicKey })
    : Result.fail(new LogKeyInvalid({ message: `The id in the key of ${name} is not that of its public key.` }))
}

export const fromText = (text: Redacted.Redacted<string>): Result.Result<Signer, LogKeyInvalid> =>
  Result.map(keyFrom(text), ({ id, key, name, publicKey, type }) => ({
    name,
    vkey: verifierKeyText({ name, id, type, publicKey }),
    note: (checkpoint) => {
      const signed = checkpointText(checkpoint)
      const bytes = Uint8Array.from(sign(null, utf8(signed), key))
      return noteText({ text: signed, signatures: [{ name, id, bytes }] })
    },
  }))

/** Whether the id of a verifier key is that of its name and bytes. */
export const isVerifierKey = (key: VerifierKey) => idOf(key) === key.id

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
  return verifierKeyText({ ...key, id: idOf(key) })
}

/** A key of the same text form that signs other things than checkpoints: its name, its 32 public bytes, and how it signs. */
export const plainFrom = (text: Redacted.Redacted<string>) =>
  Result.map(keyFrom(text), ({ key, name, publicKey }) => ({
    name,
    publicKey,
    sign: (bytes: Uint8Array): Uint8Array => sign(null, bytes, key),
  }))

/** Generates a key under a name, the log's origin, with the system's random generator. */
export const generate = (name: string): Result.Result<Redacted.Redacted<string>, LogKeyInvalid> => {
  if (!isKeyName(name)) {
    return Result.fail(
      new LogKeyInvalid({ message: "A key's name is the log's origin: no white space and no plus sign." }),
    )
  }
  const seed = concat(randomBytes(32))
  const id = idOf({ name, type: ed25519, publicKey: pairOf(seed).publicKey })
  return Result.succeed(Redacted.make(signerKeyText({ name, id, type: ed25519, seed })))
}

/** The origin of a server's log: its public URL without scheme, followed by the log's path. */
export const originOf = (publicUrl: string): string =>
  `${publicUrl.replace(/^[a-z]+:\/\//u, "").replace(/\/+$/u, "")}/log`
