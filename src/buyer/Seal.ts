/** Sealing for the library: creates a missing salt and rejects words that could never be revealed. */
import { commitmentOf, unsealable } from "./core/Commitment.ts"
import { randomHex } from "./core/Digest.ts"

export interface Sealed {
  /** 64 lowercase hex digits; the only part that is sent before a reveal. */
  readonly commitment: string
  readonly salt: string
  readonly words: string
}

/** The commitment of salt and words. Rejects with a `RangeError` outside `sealBounds`: no reveal could succeed. */
export const seal = async (words: string, salt: string = randomHex(16)): Promise<Sealed> => {
  const problem = unsealable(salt, words)
  if (problem !== undefined) throw new RangeError(`${problem} This request charged nothing.`)
  return { commitment: await commitmentOf(salt, words), salt, words }
}
