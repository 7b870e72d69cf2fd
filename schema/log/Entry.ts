/** The log's entry of a stone: the text that its chain hash covers, so that chain and tree agree. */
import { type ChainLink, chainLinkText } from "../altar/ChainLink.ts"
import { type Bytes, fromDecimal, Malformed, utf8 } from "./Bytes.ts"

/** The position of a stone's leaf, from 0. */
export const indexOf = ({ sequence }: Pick<ChainLink, "sequence">): number => sequence - 1

export const entryOf = (link: ChainLink): Bytes => utf8(chainLinkText(link))

const pattern = /^([0-9a-f]{64})\0([0-9]+)\0([0-9a-f]{64})\0([0-9TZ:.-]{24})\0(0x[0-9a-f]{64})$/u

export const parseEntry = (entry: Uint8Array): ChainLink | Malformed => {
  const text = new TextDecoder().decode(entry)
  const [, previousHash = "", sequenceText = "", commitment = "", witnessedAt = "", transaction = ""] =
    pattern.exec(text) ?? []
  const sequence = fromDecimal(sequenceText)
  return sequence === undefined || sequence === 0
    ? new Malformed(
        "An entry is previousHash, sequence, commitment, witnessedAt and transaction, with NUL between them.",
      )
    : { previousHash, sequence, commitment, witnessedAt, transaction }
}
