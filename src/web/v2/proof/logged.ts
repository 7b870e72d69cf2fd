/** Reads the claimed content of a log: a stone, a text, a file, or a leaf hash. */
import { fromBase64, utf8 } from "../../../../schema/log/Bytes.ts"
import { Unproven } from "../../../buyer/log/Verdict.ts"
import type { Logged } from "../../../buyer/receipt/ProofChecks.ts"
import { stoneIn } from "../../../buyer/receipt/ReceiptFile.ts"
import { AnswerError } from "../page/http.ts"

/** Longest entry that is read into memory. */
const entryMaximum = 64_000_000

const stoneOf = (text: string) => {
  try {
    return stoneIn(text)
  } catch (error) {
    throw error instanceof Unproven ? new AnswerError(error.message) : error
  }
}

const leafIn = (text: string) => {
  const digits = /^[0-9a-f]{64}$/iu.test(text) ? text.match(/../gu) : null
  const hash = digits === null ? fromBase64(text) : Uint8Array.from(digits, (byte) => Number.parseInt(byte, 16))
  if (hash?.length === 32) return hash
  throw new AnswerError("A leaf hash is 64 hexadecimal digits, or Base64 of 32 bytes.")
}

/** Throws a sentence where it is missing or has another form. */
export const loggedIn = async (kind: string, text: string, file: File | undefined): Promise<Logged> => {
  if (file !== undefined && file.size > entryMaximum)
    throw new AnswerError("This file is larger than 64 MB. Compute its leaf hash with another program, and give that.")
  if (kind === "file") {
    if (file === undefined) throw new AnswerError("Choose the file that the log is said to hold.")
    return { entry: new Uint8Array(await file.arrayBuffer()) }
  }
  if (kind === "stone") {
    const json = text.trim() === "" ? ((await file?.text()) ?? "") : text
    if (json.trim() === "") throw new AnswerError("Give the stone that the log is said to hold, as JSON.")
    return { stone: stoneOf(json) }
  }
  if (text === "") throw new AnswerError("Give the entry that the log is said to hold.")
  return kind === "leaf" ? { leaf: leafIn(text.trim()) } : { entry: utf8(text) }
}
