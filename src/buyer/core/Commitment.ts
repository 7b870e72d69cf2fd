/** Seals words by the contract's recipe; only the commitment may leave this machine. */
import {
  commitmentText,
  normalizedLength,
  revealFault,
  saltMaximum,
  saltMinimum,
  type ShownWords,
  wordsMaximum,
} from "../../../schema/altar/Recipe.ts"
import { randomHex, sha256 } from "./Digest.ts"

/** The commitment of salt and words: 64 lowercase hex digits. */
export const commitmentOf = (salt: string, words: string): Promise<string> => sha256(commitmentText(salt, words))

/** The fault of revealed words; undefined when they match their commitment, or are hidden. */
export const checkReveal = async (commitment: string | null, shown: ShownWords) =>
  revealFault(commitment, shown, await commitmentOf(shown.salt ?? "", shown.text ?? ""))

/** Minimum and maximum code points; of words after normalization. */
export const sealBounds = { words: [1, wordsMaximum], salt: [saltMinimum, saltMaximum] } as const

const isOutside = (length: number, [least, most]: readonly [number, number]) => length < least || length > most

/** A sentence about why salt and words cannot be sealed: their commitment could never be revealed. */
export const unsealable = (salt: string, words: string): string | undefined => {
  const [salted, length] = [[...salt].length, normalizedLength(words)]
  if (isOutside(length, sealBounds.words))
    return `Sealed words have ${sealBounds.words.join(" to ")} characters after trimming; these have ${length}.`
  if (isOutside(salted, sealBounds.salt))
    return `A salt has ${sealBounds.salt.join(" to ")} characters; this has ${salted}.`
  return /[\0\p{Cs}]/u.test(words + salt) ? "Words and salt must not hold NUL or lone surrogates." : undefined
}

/**
 * Seals words: only the commitment, 64 lowercase hex digits, is sent before a reveal. Rejects with a `RangeError` outside
 * `sealBounds`: no reveal could succeed.
 */
export const seal = async (words: string, salt: string = randomHex(16)) => {
  const problem = unsealable(salt, words)
  if (problem !== undefined) throw new RangeError(`${problem} This request charged nothing.`)
  return { commitment: await commitmentOf(salt, words), salt, words }
}

export type Sealed = Awaited<ReturnType<typeof seal>>
