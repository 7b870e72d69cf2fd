/** The commitment recipe as plain text functions: server, browser and buyer seal words in exactly one way. */

/** The synthetic example of the documentation; refused before any payment. */
export const zeroCommitment = "0".repeat(64)

export const recipe =
  "commitment = lowercase hex SHA-256( UTF-8(salt) + 0x00 + UTF-8(normalize(words)) ); normalize = Unicode NFC, CRLF and CR become LF, leading and trailing white space removed"

/** Code points of sealed words after normalization, from 1. */
export const wordsMaximum = 280

/** Code points of the salt of a commitment. */
export const saltMinimum = 16
export const saltMaximum = 256

/** Unicode NFC; CRLF and CR become LF; leading and trailing Unicode white space removed. Nothing else changes. */
export const normalize = (words: string): string =>
  words
    .normalize("NFC")
    .replace(/\r\n?/gu, "\n")
    .replace(/^\p{White_Space}+|\p{White_Space}+$/gu, "")

/** Code points of the normalized words; a sealed text has 1 to `wordsMaximum` of them. */
export const normalizedLength = (words: string): number => [...normalize(words)].length

/** Whether words can be sealed at all: none but white space is nothing to seal. */
export const isSealable = (words: string): boolean => {
  const length = normalizedLength(words)
  return length >= 1 && length <= wordsMaximum
}

/** Where words are that cannot be sealed, and why. */
export const sealIssue = (path: string, words: string) => ({
  path,
  message: `Expected 1 to ${wordsMaximum} code points after normalization, got ${normalizedLength(words)}`,
})

/** What is hashed as UTF-8: salt, one NUL, normalized words. */
export const commitmentText = (salt: string, words: string): string => `${salt}\0${normalize(words)}`

/** Words as an altar shows them once they are revealed; both null while they are hidden. */
export interface ShownWords {
  readonly text: string | null
  readonly salt?: string | null
}

/** What is wrong with revealed words, where `computed` is the hash of them and their salt; undefined when they hold, or are hidden. */
export const revealFault = (
  commitment: string | null,
  { salt, text }: ShownWords,
  computed: string,
): { readonly summary: string; readonly detail: string } | undefined => {
  if (text === null) return undefined
  if (salt === null || salt === undefined)
    return {
      summary: "shows revealed words without their salt, so that nobody can check them",
      detail: "its revealed words are shown without their salt, so that nobody can check them",
    }
  return computed === commitment
    ? undefined
    : {
        summary: "shows other words than were sealed: they and their salt do not hash to its commitment",
        detail: `its revealed words and their salt hash to ${computed}, but it sealed ${commitment ?? "nothing"}`,
      }
}
