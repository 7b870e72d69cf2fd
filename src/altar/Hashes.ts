/** SHA-256 in lowercase hex, and the altar's two uses of it. */
import { hash } from "node:crypto"
import { type ChainLink, chainLinkText } from "../../schema/altar/ChainLink.ts"
import { CommitmentMismatch } from "../../schema/altar/Commitment.ts"
import { commitmentText, trimmingFault } from "../../schema/altar/Recipe.ts"

/** Hashes bytes, or a text as UTF-8. */
export const sha256 = (content: Uint8Array | string): string => hash("sha256", content, "hex")

/** The commitment of salt and words (docs/integrating.md). */
export const seal = (salt: string, words: string): string => sha256(commitmentText(salt, words))

/** The refusal of a salt and words that do not match; it says where trimming explains that. */
export const mismatchOf = (salt: string, words: string, commitment: string): CommitmentMismatch => {
  const message = trimmingFault(salt, words, commitment, sha256)
  return new CommitmentMismatch(message === undefined ? {} : { message })
}

/** The `chainHash` of a link, which binds it to all links before. */
export const chainHash = (link: ChainLink): string => sha256(chainLinkText(link))
