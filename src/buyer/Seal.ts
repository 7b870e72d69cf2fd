/** Words are sealed by the one recipe, with WebCrypto alone: the commitment may leave this machine, words and salt stay. */
import { commitmentText, normalizedLength } from "../../schema/altar/Recipe.ts"

export interface Sealed {
  /** 64 lowercase hex digits; the only part that is ever sent before a reveal. */
  readonly commitment: string
  readonly salt: string
  readonly words: string
}

const hexOf = (bytes: Uint8Array) => [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("")

/** Lowercase hex of random bytes. */
export const randomHex = (bytes: number): string => hexOf(crypto.getRandomValues(new Uint8Array(bytes)))

/** Lowercase hex SHA-256 of the UTF-8 bytes. */
export const sha256 = (text: string): Promise<string> =>
  globalThis.crypto?.subtle === undefined
    ? Promise.reject(new TypeError("There is no WebCrypto here: a page must be loaded over https to hash."))
    : crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)).then((digest) => hexOf(new Uint8Array(digest)))

/**
 * The commitment of salt and words (decisions.md §5). Rejects with a `RangeError` for words that are not 1 to 280 code
 * points after normalization or a salt that is not 16 to 256: such a seal could never be revealed.
 */
export const seal = (words: string, salt: string = randomHex(16)): Promise<Sealed> => {
  const length = normalizedLength(words)
  if (length < 1 || length > 280)
    return Promise.reject(
      new RangeError(
        `Sealed words have 1 to 280 characters after trimming; these have ${length}. Nothing was charged.`,
      ),
    )
  const salted = [...salt].length
  if (salted < 16 || salted > 256)
    return Promise.reject(new RangeError(`A salt has 16 to 256 characters; this has ${salted}. Nothing was charged.`))
  if (/[\0\p{Cs}]/u.test(words + salt))
    return Promise.reject(new RangeError("Words and salt must not hold NUL or lone surrogates. Nothing was charged."))
  return sha256(commitmentText(salt, words)).then((commitment) => ({ commitment, salt, words }))
}
