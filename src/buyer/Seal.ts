/** Sealing for the library: salt is made where none is given, and what could never be revealed is refused. */
import { commitmentOf, unsealable } from "./core/Commitment.ts"
import { randomHex } from "./core/Digest.ts"

export interface Sealed {
  /** 64 lowercase hex digits; the only part that is ever sent before a reveal. */
  readonly commitment: string
  readonly salt: string
  readonly words: string
}

/**
 * The commitment of salt and words. Rejects with a `RangeError` for words or a salt outside `sealBounds`: such a seal
 * could never be revealed.
 */
export const seal = async (words: string, salt: string = randomHex(16)): Promise<Sealed> => {
  const problem = unsealable(salt, words)
  if (problem !== undefined) throw new RangeError(`${problem} This request charged nothing.`)
  return { commitment: await commitmentOf(salt, words), salt, words }
}
