/** The cosignature of a log witness (C2SP tlog-cosignature), by Ed25519 or by ML-DSA-44. */
import { type Bytes, concat, Malformed, utf8 } from "./Bytes.ts"
import { parseCheckpoint } from "./Checkpoint.ts"
import { keyTypes, type VerifierKey } from "./Note.ts"

const uint64 = (value: number): Bytes =>
  Uint8Array.from({ length: 8 }, (_, at) => Math.floor(value / 256 ** (7 - at)) % 256)

/** A text after its length in one byte; undefined when it is too long for that. */
const short = (text: string): Bytes | undefined => {
  const bytes = utf8(text)
  return bytes.length > 255 ? undefined : concat(Uint8Array.of(bytes.length), bytes)
}

/** Commits to the witness's name and to the whole tree, and to no extension line. */
const subtreeBytes = (name: string, seconds: number, text: string): Bytes | undefined => {
  const checkpoint = parseCheckpoint(text)
  if (checkpoint instanceof Malformed || seconds === 0) return undefined
  const [cosigner, origin] = [short(name), short(checkpoint.origin)]
  return cosigner === undefined || origin === undefined
    ? undefined
    : concat(
        utf8("subtree/v1\n\0"),
        cosigner,
        uint64(seconds),
        origin,
        uint64(0),
        uint64(checkpoint.size),
        checkpoint.root,
      )
}

/** The bytes that a log witness signs, `seconds` since 1970; undefined when its kind of key can sign no such text. */
export const cosignedBytes = (
  { name, type }: Pick<VerifierKey, "name" | "type">,
  seconds: number,
  text: string,
): Bytes | undefined =>
  type === keyTypes.mlDsa ? subtreeBytes(name, seconds, text) : utf8(`cosignature/v1\ntime ${seconds}\n${text}`)

/** By Ed25519 and by ML-DSA-44. */
const signatureLengths = new Set([64, 2_420])

export const parseCosignature = (bytes: Bytes): { readonly seconds: number; readonly signature: Bytes } | Malformed => {
  if (!signatureLengths.has(bytes.length - 8)) {
    return new Malformed("A cosignature is a time of 8 bytes and a signature of 64, or of 2,420 by ML-DSA-44.")
  }
  const seconds = bytes.subarray(0, 8).reduce((value, byte) => value * 256 + byte, 0)
  return Number.isSafeInteger(seconds)
    ? { seconds, signature: bytes.slice(8) }
    : new Malformed("The time of a cosignature is beyond 2^53 seconds.")
}

export const cosignatureBytes = (seconds: number, signature: Uint8Array): Bytes => concat(uint64(seconds), signature)
