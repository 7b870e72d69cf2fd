/** A log's request to its witness (C2SP tlog-witness): sign a checkpoint that continues the last one signed. */
import { base64, type Bytes, fromBase64, fromDecimal, Malformed } from "./Bytes.ts"
import { hashSize, maxProofHashes } from "./Merkle.ts"

export interface AddCheckpoint {
  /** The last size that the witness signed, as far as the log knows; 0 if none. */
  readonly old: number
  /** The consistency proof from `old` to the checkpoint; empty from 0. */
  readonly hashes: ReadonlyArray<Bytes>
  /** The checkpoint as the log signed it, verbatim. */
  readonly note: string
}

/** The media type of a 409, whose body is the last size that the witness signed. */
export const sizeType = "text/x.tlog.size"

export const addCheckpointText = ({ hashes, note, old }: AddCheckpoint): string =>
  `${[`old ${old}`, ...hashes.map(base64), ""].map((line) => `${line}\n`).join("")}${note}`

export const parseAddCheckpoint = (text: string): AddCheckpoint | Malformed => {
  const end = text.indexOf("\n\n")
  const [first = "", ...lines] = text.slice(0, Math.max(end, 0)).split("\n")
  const old = first.startsWith("old ") ? fromDecimal(first.slice("old ".length)) : undefined
  if (old === undefined) return new Malformed("The first line is old and a decimal number below 2^53.")
  if (lines.length > maxProofHashes) return new Malformed(`A proof has at most ${maxProofHashes} hashes.`)
  const hashes = lines.flatMap((line) => fromBase64(line) ?? [])
  return hashes.length === lines.length && hashes.every((hash) => hash.length === hashSize)
    ? { old, hashes, note: text.slice(end + 2) }
    : new Malformed("Each hash of a proof is 32 bytes in base64 on a line.")
}

export const sizeText = (size: number): string => `${size}\n`

export const parseSize = (text: string): number | undefined =>
  text.endsWith("\n") ? fromDecimal(text.slice(0, -1)) : undefined
