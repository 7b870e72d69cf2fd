/** SHA-256 in lowercase hex, and the altar's two uses of it. */
import { hash } from "node:crypto"
import { type ChainLink, chainLinkText } from "../../schema/altar/ChainLink.ts"
import { commitmentText } from "../../schema/altar/Commitment.ts"

/** Hashes bytes, or a text as UTF-8. */
export const sha256 = (content: Uint8Array | string): string => hash("sha256", content, "hex")

/** The commitment of salt and words (docs/integrating.md). */
export const seal = (salt: string, words: string): string => sha256(commitmentText(salt, words))

/** The `chainHash` of a link, which binds it to all links before. */
export const chainHash = (link: ChainLink): string => sha256(chainLinkText(link))
