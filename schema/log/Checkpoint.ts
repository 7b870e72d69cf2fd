/** A log's checkpoint (C2SP tlog-checkpoint), and the cosignature of a log witness. */
import { base64, type Bytes, concat, fromBase64, fromDecimal, Malformed, utf8 } from "./Bytes.ts"
import { hashSize } from "./Merkle.ts"

export interface Checkpoint {
  /** A URL prefix without scheme and trailing slash, fixed for the life of the log. */
  readonly origin: string
  readonly size: number
  readonly root: Bytes
  /** Further lines; ours has none. */
  readonly extensions: ReadonlyArray<string>
}

/** The root of an empty tree: SHA-256 of no bytes. */
export const emptyRoot = "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="

export const checkpointText = ({ extensions, origin, root, size }: Checkpoint): string =>
  [origin, size, base64(root), ...extensions].map((line) => `${line}\n`).join("")

export const parseCheckpoint = (text: string): Checkpoint | Malformed => {
  const [origin = "", sizeText = "", rootText = "", ...rest] = text.split("\n")
  const extensions = rest.slice(0, -1)
  const size = fromDecimal(sizeText)
  const root = fromBase64(rootText)
  if (origin === "" || rest.at(-1) !== "" || extensions.includes("")) {
    return new Malformed("A checkpoint is at least three lines, none of them empty: origin, size and root.")
  }
  if (size === undefined) return new Malformed("The size of a checkpoint is a decimal number below 2^53.")
  if (root === undefined || root.length !== hashSize) {
    return new Malformed("The root of a checkpoint is 32 bytes in base64.")
  }
  if (size === 0 && rootText !== emptyRoot) return new Malformed("A log of size 0 has the root of the empty tree.")
  return { origin, size, root, extensions }
}

/** The bytes that a log witness signs; `seconds` since 1970. */
export const cosignedBytes = (seconds: number, text: string): Bytes => utf8(`cosignature/v1\ntime ${seconds}\n${text}`)

export const parseCosignature = (bytes: Bytes): { readonly seconds: number; readonly signature: Bytes } | Malformed => {
  if (bytes.length !== 8 + 64) return new Malformed("A cosignature is a time of 8 bytes and a signature of 64.")
  const seconds = bytes.subarray(0, 8).reduce((value, byte) => value * 256 + byte, 0)
  return Number.isSafeInteger(seconds)
    ? { seconds, signature: bytes.slice(8) }
    : new Malformed("The time of a cosignature is beyond 2^53 seconds.")
}

export const cosignatureBytes = (seconds: number, signature: Uint8Array): Bytes =>
  concat(
    Uint8Array.from({ length: 8 }, (_, at) => Math.floor(seconds / 256 ** (7 - at)) % 256),
    signature,
  )
