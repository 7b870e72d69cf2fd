/** Recognises a dropped file by its form alone; nothing in it is believed yet. */
import { Malformed } from "../../../../schema/log/Bytes.ts"
import { parseCheckpoint } from "../../../../schema/log/Checkpoint.ts"
import { parseNote } from "../../../../schema/log/Note.ts"
import { parseProofFile } from "../../../../schema/log/ProofFile.ts"
import { Unproven } from "../../../buyer/log/Verdict.ts"
import { namedIn } from "../../../buyer/receipt/VerifyReceipt.ts"
import { part } from "../page/http.ts"
import { parsed } from "../page/store.ts"
import { largest } from "./handed.ts"

export type Known =
  /** `kid` names the key that is said to have signed. */
  | { readonly kind: "receipt"; readonly act: string; readonly kid: string }
  | { readonly kind: "proof"; readonly origin: string; readonly index: number; readonly size: number }

export type Recognised = Known | { readonly kind: "unknown"; readonly word: string; readonly says: string }

const unknown = (word: string, says: string): Recognised => ({ kind: "unknown", word, says })

const checkpointIn = (text: string) => {
  const note = parseNote(text)
  return note instanceof Malformed ? note : parseCheckpoint(note.text)
}

const proofIn = (text: string): Recognised => {
  const file = parseProofFile(text)
  if (file instanceof Malformed) return unknown("A damaged proof.", file.message)
  const checkpoint = checkpointIn(file.checkpoint)
  return checkpoint instanceof Malformed
    ? unknown("A damaged proof.", checkpoint.message)
    : { kind: "proof", origin: checkpoint.origin, index: file.index, size: checkpoint.size }
}

/** Throws the fault of a receipt file. */
const receiptIn = (text: string): Recognised => {
  const json = parsed(text)
  if (part(json, "kind") === "spirit-altar-sealed-words")
    return unknown("Your sealed words.", "This file is secret and proves nothing. My acts can take it back.")
  if (json !== undefined && !String(part(json, "format")).startsWith("spirit-altar-receipt/"))
    return unknown(
      "No receipt file.",
      "This is JSON of another kind. An act's page and a stone's page link the receipt file.",
    )
  return { kind: "receipt", ...namedIn(text) }
}

export const recognise = (text: string): Recognised => {
  if (text.length > largest) return unknown("Too large.", "No receipt file or proof has more than a megabyte.")
  const begin = text.trimStart()
  if (begin === "") return unknown("Empty.", "There is no text in it.")
  if (begin.startsWith("c2sp.org/tlog-proof@")) return proofIn(text)
  if (begin.startsWith("{") || begin.startsWith("["))
    try {
      return receiptIn(text)
    } catch (error) {
      if (error instanceof Unproven) return unknown("A damaged receipt file.", error.message)
      if (error instanceof RangeError) return unknown("A damaged receipt file.", "It is nested too deeply to be read.")
      throw error
    }
  if (/[\0\uFFFD]/u.test(text)) return unknown("No text.", "A receipt file and a proof are plain text in UTF-8.")
  if (!(checkpointIn(text) instanceof Malformed))
    return unknown("A checkpoint.", "It is signed, and shows no entry. A proof begins with c2sp.org/tlog-proof@v1.")
  return unknown(
    "Neither a receipt nor a proof.",
    "A receipt file is JSON; a proof begins with c2sp.org/tlog-proof@v1.",
  )
}

/** Pasted text lost its last line feed or gained spaces; a proof is signed with the former. */
export const asPasted = (text: string): string => (text.trim() === "" ? "" : `${text.trim()}\n`)
