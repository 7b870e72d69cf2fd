/** The commitment recipe as plain text functions, shared by server, browser and buyer. */

/** The documentation's synthetic example; refused before any payment. */
export const zeroCommitment = "0".repeat(64)

export const recipe =
  "commitment = lowercase hex SHA-256( UTF-8(salt) + 0x00 + UTF-8(normalize(words)) ); normalize = Unicode NFC, CRLF and CR become LF, leading and trailing white space removed"

/** The white space that the recipe removes, beside what common languages remove. */
export const whiteSpace =
  "White space is Unicode's `White_Space`, without U+001C to U+001F (Python's `strip`) and U+FEFF (`trim`)."

/** Maximum length of sealed words in code points, after normalization. */
export const wordsMaximum = 280

/** Bounds of a salt's length in code points. */
export const saltMinimum = 16
export const saltMaximum = 256

/** Whether a request's member of this name takes the commitment of sealed words. */
export const isSealing = (name: string) => name === "commitment" || name === "intentionCommitment"

/** Normalizes words: Unicode NFC, CRLF and CR to LF, leading and trailing Unicode white space removed. */
export const normalize = (words: string): string =>
  words
    .normalize("NFC")
    .replace(/\r\n?/gu, "\n")
    .replace(/^\p{White_Space}+|\p{White_Space}+$/gu, "")

/** The length of the normalized words in code points. */
export const normalizedLength = (words: string): number => [...normalize(words)].length

/** Whether words can be sealed: 1 to `wordsMaximum` code points after normalization. */
export const isSealable = (words: string): boolean => {
  const length = normalizedLength(words)
  return length >= 1 && length <= wordsMaximum
}

export const sealIssue = (path: string, words: string) => ({
  path,
  message: `Must be 1 to ${wordsMaximum} code points after normalization, not ${normalizedLength(words)}`,
})

/** Returns the text that is hashed as UTF-8: salt, NUL, normalized words. */
export const commitmentText = (salt: string, words: string): string => `${salt}\0${normalize(words)}`

const inLines = (words: string) => words.normalize("NFC").replace(/\r\n?/gu, "\n")

/** The outer white space of other programs. */
const trimmings: ReadonlyArray<readonly [how: string, trim: (words: string) => string]> = [
  ["JavaScript's `trim`", (words) => words.trim()],
  [
    "Python's `strip`",
    (words) => words.replace(/^[\p{White_Space}\u001c-\u001f]+|[\p{White_Space}\u001c-\u001f]+$/gu, ""),
  ],
  ["no trimming", (words) => words],
]

/** Why salt and words do not match, where trimming explains it; undefined otherwise. */
export const trimmingFault = (
  salt: string,
  words: string,
  commitment: string,
  hash: (text: string) => string,
): string | undefined => {
  const trimming = trimmings.find(([, trim]) =>
    [words, inLines(words)].some((spelling) => hash(`${salt}\0${trim(spelling)}`) === commitment),
  )
  if (trimming === undefined) return undefined
  const [how, trim] = trimming
  const cause = `The commitment was made with ${how} instead of the recipe's removal of outer white space.`
  return normalize(trim(words)) === inLines(trim(words))
    ? `${cause} Send the words without that white space. Nothing was charged or stored.`
    : `${cause} The recipe removes that white space, so these words cannot be opened here. Nothing was charged or stored.`
}

/** Revealed words as an altar shows them; both null while they are hidden. */
export interface ShownWords {
  readonly text: string | null
  readonly salt?: string | null
}

/** Returns the fault of revealed words; undefined when they match or are hidden. `computed` hashes salt and words. */
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
