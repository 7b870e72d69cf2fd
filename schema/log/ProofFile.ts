/** A `.tlog-proof` file (C2SP tlog-proof): proves offline that the log includes an entry. */
import { base64, type Bytes, fromBase64, fromDecimal, Malformed } from "./Bytes.ts"
import { hashSize, maxProofHashes } from "./Merkle.ts"
import { editedBy } from "./Note.ts"

export interface ProofFile {
  /** Extra bytes of the writer; they prove nothing. */
  readonly extra: Bytes | undefined
  /** Index of the entry, from 0. */
  readonly index: number
  /** The inclusion proof, the leaf's sibling first. */
  readonly hashes: ReadonlyArray<Bytes>
  /** The signed checkpoint, verbatim. */
  readonly checkpoint: string
}

const firstLine = "c2sp.org/tlog-proof@v1"

/** Drops lines that are not 32 bytes in base64. */
const hashesOf = (lines: ReadonlyArray<string>) =>
  lines.flatMap((line) => {
    const hash = fromBase64(line)
    return hash?.length === hashSize ? [hash] : []
  })

export const proofFileText = ({ checkpoint, extra, hashes, index }: ProofFile): string =>
  [firstLine, ...(extra === undefined ? [] : [`extra ${base64(extra)}`]), `index ${index}`, ...hashes.map(base64), ""]
    .map((line) => `${line}\n`)
    .join("") + checkpoint

export const parseProofFile = (text: string): ProofFile | Malformed => {
  const edited = editedBy(text, "The proof")
  if (edited !== undefined) return edited
  const end = text.indexOf("\n\n")
  const [first, ...lines] = text.slice(0, Math.max(end, 0)).split("\n")
  if (text.split("\n", 1)[0]?.trim() !== firstLine) return new Malformed(`A proof begins with the line ${firstLine}.`)
  if (first !== firstLine)
    return new Malformed(
      "A proof has no space around a line, and an empty line before its checkpoint: download it again.",
    )
  const extraText = lines[0]?.startsWith("extra ") === true ? lines.shift()?.slice("extra ".length) : undefined
  const extra = extraText === undefined ? undefined : fromBase64(extraText)
  if (extraText !== undefined && extra === undefined) return new Malformed("The extra data are not base64.")
  const [, indexText = ""] = /^index (.+)$/u.exec(lines.shift() ?? "") ?? []
  const index = fromDecimal(indexText)
  if (index === undefined) return new Malformed("The index of a proof is a decimal number below 2^53.")
  const hashes = hashesOf(lines)
  if (hashes.length < lines.length || lines.length > maxProofHashes) {
    return new Malformed(`A proof has at most ${maxProofHashes} hashes, each 32 bytes in base64 on a line.`)
  }
  return { extra, index, hashes, checkpoint: text.slice(end + 2) }
}
