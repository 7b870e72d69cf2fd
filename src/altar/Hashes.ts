/** SHA-256 as the altar writes it: lowercase hex. */
import { hash } from "node:crypto"
import { type ChainLink, chainLinkText } from "../../schema/altar/ChainLink.ts"
import { commitmentText } from "../../schema/altar/Commitment.ts"

/** Of bytes, or of a text as UTF-8. */
export const sha256 = (content: Uint8Array | string): string => hash("sha256", content, "hex")

/** The commitment of salt and words. */
export const seal = (salt: string, words: string): string => sha256(commitmentText(salt, words))

/** The chainHash of a link. */
export const chainHash = (link: ChainLink): string => sha256(chainLinkText(link))
