/** Words are sealed by the one recipe of the contract: the commitment may leave this machine, words and salt stay. */
import {
  commitmentText,
  normalizedLength,
  revealFault,
  saltMaximum,
  saltMinimum,
  type ShownWords,
  wordsMaximum,
} from "../../../schema/altar/Recipe.ts"
import { sha256 } from "./Digest.ts"

/** The commitment of salt and words: 64 lowercase hex digits. */
export const commitmentOf = (salt: string, words: string): Promise<string> => sha256(commitmentText(salt, words))

/** What is wrong with words that are shown as revealed; undefined when they are what was sealed, or hidden. */
export const checkReveal = async (commitment: string | null, shown: ShownWords) =>
  revealFault(commitment, shown, await commitmentOf(shown.salt ?? "", shown.text ?? ""))

/** Least and most code points; of words after normalization. */
export const sealBounds = { words: [1, wordsMaximum], salt: [saltMinimum, saltMaximum] } as const

/** Why salt and words cannot be sealed: such a commitment could never be revealed. */
export type Unsealable =
  | { readonly part: "words"; readonly length: number }
  | { readonly part: "salt"; readonly length: number }
  /** NUL, or half of a surrogate pair. */
  | { readonly part: "characters" }

const isOutside = (length: number, [least, most]: readonly [number, number]) => length < least || length > most

/** Lengths are code points, those of the words after normalization. */
export const unsealable = (salt: string, words: string): Unsealable | undefined => {
  const [salted, length] = [[...salt].length, normalizedLength(words)]
  if (isOutside(length, sealBounds.words)) return { part: "words", length }
  if (isOutside(salted, sealBounds.salt)) return { part: "salt", length: salted }
  return /[\0\p{Cs}]/u.test(words + salt) ? { part: "characters" } : undefined
}
