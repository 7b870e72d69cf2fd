/** The link of the witness chain as the text to be hashed: one truth for server, verifier and browser. */

/** What precedes the first stone. */
export const genesisHash = "0".repeat(64)

/** The parts of a link, each in exactly the text form that is hashed. */
export interface ChainLink {
  readonly previousHash: string
  /** Position from 1, decimal without padding. */
  readonly sequence: number
  readonly commitment: string
  /** RFC 3339 UTC with milliseconds and `Z`. */
  readonly witnessedAt: string
  /** Lowercase 0x hash of the settlement. */
  readonly transaction: string
}

/** `previousHash NUL sequence NUL commitment NUL witnessedAt NUL transaction`: hashed as UTF-8. NUL is in none of the parts. */
export const chainLinkText = (link: ChainLink): string =>
  `${link.previousHash}\0${link.sequence}\0${link.commitment}\0${link.witnessedAt}\0${link.transaction}`
