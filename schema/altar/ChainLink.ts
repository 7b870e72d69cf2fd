/** The hashed text of a witness chain link, shared by server, verifier and browser. */

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

/** Returns the text that is hashed as UTF-8. None of the parts can contain NUL. */
export const chainLinkText = (link: ChainLink): string =>
  `${link.previousHash}\0${link.sequence}\0${link.commitment}\0${link.witnessedAt}\0${link.transaction}`
