/** Shell commands with coreutils that compute the two hashes of a stone. */
import { normalize } from "../../../schema/altar/Recipe.ts"
import type { Stone } from "./Witness.ts"

/** Computes the chain hash from the five parts of a link. */
export const linkCommand = ({ commitment, previousHash, sequence, transaction, witnessedAt }: Stone): string =>
  `printf '%s\\0%s\\0%s\\0%s\\0%s' ${[previousHash, sequence, commitment, witnessedAt, transaction].join(" ")} | sha256sum`

/** Control and format characters, which a shell's line editor would obey when pasted. */
const unprintable = /[\p{C}\p{Zl}\p{Zp}]/gu
const utf8 = new TextEncoder()
const octal = (byte: number) => `\\${byte.toString(8).padStart(3, "0")}`

/** Escapes any text for the quoted format of `printf`, on one line. */
const inFormat = (text: string) =>
  text
    .replaceAll("\\", "\\\\")
    .replaceAll("%", "%%")
    .replaceAll("\n", "\\n")
    .replaceAll("\r", "\\r")
    .replaceAll("'", `'\\''`)
    .replaceAll(unprintable, (one) => [...utf8.encode(one)].map(octal).join(""))

/** Computes the commitment from revealed words and their salt. */
export const wordsCommand = (salt: string, words: string): string =>
  `printf -- '${inFormat(salt)}\\000${inFormat(normalize(words))}' | sha256sum`
