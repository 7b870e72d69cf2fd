/** The commitment recipe as plain text functions: server, browser and buyer seal words in exactly one way. */

/** The synthetic example of the documentation; refused before any payment. */
export const zeroCommitment = "0".repeat(64)

export const recipe =
  "commitment = lowercase hex SHA-256( UTF-8(salt) + 0x00 + UTF-8(normalize(words)) ); normalize = Unicode NFC, CRLF and CR become LF, leading and trailing white space removed"

/** Unicode NFC; CRLF and CR become LF; leading and trailing Unicode white space removed. Nothing else changes. */
export const normalize = (words: string): string =>
  words
    .normalize("NFC")
    .replace(/\r\n?/gu, "\n")
    .replace(/^\p{White_Space}+|\p{White_Space}+$/gu, "")

/** Code points of the normalized words; a sealed text has 1 to 280 of them. */
export const normalizedLength = (words: string): number => [...normalize(words)].length

/** What is hashed as UTF-8: salt, one NUL, normalized words. */
export const commitmentText = (salt: string, words: string): string => `${salt}\0${normalize(words)}`
