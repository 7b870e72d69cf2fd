/** Signed notes (C2SP signed-note): a text and signature lines that identify its signers. */
import { base64, type Bytes, concat, fromBase64, hex, Malformed, utf8 } from "./Bytes.ts"

export interface Signature {
  readonly name: string
  /** The first four bytes of the hash of name and key, in hex; distinguishes keys of one name. */
  readonly id: string
  /** The bytes after the id; the key type defines their form. */
  readonly bytes: Bytes
}

export interface Note {
  /** The signed text; ends in a line feed. */
  readonly text: string
  readonly signatures: ReadonlyArray<Signature>
}

/** No policy needs more signatures than this. */
const maxSignatures = 100

const isName = (name: string) => /^[^\p{White_Space}\p{Cc}+]+$/u.test(name)

/** Text whose only control characters are line feeds. */
const isText = (text: string) => text.isWellFormed() && !/[\0-\x09\x0b-\x1f]/u.test(text)

const idLength = 4

const parseSignature = (line: string): Signature | undefined => {
  const [, name = "", encoded = ""] = /^— ([^ ]+) ([^ ]+)$/u.exec(line) ?? []
  const blob = fromBase64(encoded)
  if (!isName(name) || blob === undefined || blob.length <= idLength) return undefined
  return { name, id: hex(blob.subarray(0, idLength)), bytes: blob.slice(idLength) }
}

/** Parses signature lines, each ended by a line feed: the answer of a cosigner. */
export const parseSignatureLines = (text: string): ReadonlyArray<Signature> | Malformed => {
  const lines = text.endsWith("\n") ? text.slice(0, -1).split("\n") : []
  const signatures = lines.length > maxSignatures ? [] : lines.flatMap((line) => parseSignature(line) ?? [])
  return lines.length > 0 && signatures.length === lines.length
    ? signatures
    : new Malformed("A signature line is an em dash, a key name and base64, with one space between them.")
}

/** Signatures cover line feeds alone, so a copy with other line ends proves nothing until they are restored. */
export const editedBy = (text: string, what: string): Malformed | undefined =>
  /[\r\0]|^\ufeff/u.test(text)
    ? new Malformed(
        `${what} was changed by an editor: its lines end with CRLF, it is UTF-16, or it has a byte order mark. Lines end with LF alone, in UTF-8: download it again, or restore them.`,
      )
    : undefined

/** Splits at the last empty line, because a text may have empty lines of its own. */
export const parseNote = (note: string): Note | Malformed => {
  const edited = editedBy(note, "The signed note")
  if (edited !== undefined) return edited
  const end = note.lastIndexOf("\n\n")
  if (!isText(note) || end === -1 || !note.endsWith("\n")) {
    return new Malformed("A signed note is a text, an empty line and signature lines, each ended by a line feed.")
  }
  const signatures = parseSignatureLines(note.slice(end + 2))
  if (signatures instanceof Malformed) return signatures
  return { text: note.slice(0, end + 1), signatures }
}

export const signatureLine = ({ bytes, id, name }: Signature): string =>
  `— ${name} ${base64(concat(idBytes(id), bytes))}\n`

const idBytes = (id: string) =>
  Uint8Array.from({ length: idLength }, (_, at) => Number.parseInt(id.slice(2 * at, 2 * at + 2), 16))

export const noteText = ({ signatures, text }: Note): string => `${text}\n${signatures.map(signatureLine).join("")}`

/** Ed25519 over the text, and over the timestamped text as a cosignature (C2SP tlog-cosignature). */
export const keyTypes = { ed25519: 1, cosignature: 4 } as const

export type KeyType = (typeof keyTypes)[keyof typeof keyTypes]

/** A public key and the name it signs under. */
export interface VerifierKey {
  readonly name: string
  /** Hex, as the key's text states it; users of the key compare it with the hash of `keyIdInput`. */
  readonly id: string
  readonly type: KeyType
  /** 32 bytes. */
  readonly publicKey: Bytes
}

/** The length of a public key, and of the seed of a private one. */
const keyLength = 32

const typeOf = (byte: number | undefined) => Object.values(keyTypes).find((type) => type === byte)

/** Splits the `name+hash+base64` of a key. */
const parts = (text: string) => /^([^+]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/=]+)$/u.exec(text) ?? []

const parseKey = (text: string, what: string): VerifierKey | Malformed => {
  const [, name = "", id = "", encoded = ""] = parts(text)
  const blob = fromBase64(encoded)
  if (!isName(name) || blob === undefined) return new Malformed(`A ${what} key is name+hash+base64.`)
  const type = typeOf(blob[0])
  if (type === undefined || blob.length !== 1 + keyLength) {
    return new Malformed(`A ${what} key has 32 bytes and is of type 1 (Ed25519) or 4 (cosignature).`)
  }
  return { name, id, type, publicKey: blob.slice(1) }
}

export const parseVerifierKey = (text: string): VerifierKey | Malformed => parseKey(text, "verifier")

export const verifierKeyText = ({ id, name, publicKey, type }: VerifierKey): string =>
  `${name}+${id}+${base64(concat(Uint8Array.of(type), publicKey))}`

/** The bytes that are hashed for a key's id. */
export const keyIdInput = ({ name, publicKey, type }: Omit<VerifierKey, "id">): Bytes =>
  concat(utf8(`${name}\n`), Uint8Array.of(type), publicKey)

export const keyIdOf = (hash: Uint8Array): string => hex(hash.subarray(0, idLength))

const secretPrefix = "PRIVATE+KEY+"

/** A private key in the form of Go's note package; `seed` has 32 bytes. */
export interface SignerKey {
  readonly name: string
  readonly id: string
  readonly type: KeyType
  readonly seed: Bytes
}

export const parseSignerKey = (text: string): SignerKey | Malformed => {
  if (!text.startsWith(secretPrefix)) return new Malformed("A signer key is PRIVATE+KEY+name+hash+base64.")
  const key = parseKey(text.slice(secretPrefix.length), "signer")
  return key instanceof Malformed ? key : { name: key.name, id: key.id, type: key.type, seed: key.publicKey }
}

export const signerKeyText = ({ id, name, seed, type }: SignerKey): string =>
  `${secretPrefix}${verifierKeyText({ name, id, type, publicKey: seed })}`

/** Whether a text may name a key: no white space, no control character, no `+`. */
export const isKeyName = isName
