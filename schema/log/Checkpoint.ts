/** A log's checkpoint (C2SP tlog-checkpoint). */
import { base64, type Bytes, fromBase64, fromDecimal, Malformed } from "./Bytes.ts"
import { hashSize } from "./Merkle.ts"
import { parseNote } from "./Note.ts"

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

/** The checkpoint of a signed note, whose signatures are not verified. */
export const parseSigned = (text: string): Checkpoint | Malformed => {
  const note = parseNote(text)
  return note instanceof Malformed ? note : parseCheckpoint(note.text)
}
