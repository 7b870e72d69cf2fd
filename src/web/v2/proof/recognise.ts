/** Recognises a dropped file by its form alone; nothing in it is believed yet. */
import { Malformed } from "../../../../schema/log/Bytes.ts"
import { parseSigned } from "../../../../schema/log/Checkpoint.ts"
import { parseProofFile } from "../../../../schema/log/ProofFile.ts"
import { Unproven } from "../../../buyer/core/Verdict.ts"
import { namedIn } from "../../../buyer/receipt/VerifyReceipt.ts"
import { type Keepsake, readHeld } from "../words/box.ts"
import { memberAt, parsed } from "../../../buyer/core/Json.ts"

/** Larger than any receipt file or proof. */
export const largest = 1_000_000

export type Known =
  /** `kid` names the key that is said to have signed. */
  | { readonly kind: "receipt"; readonly act: string; readonly kid: string }
  | { readonly kind: "proof"; readonly origin: string; readonly index: number; readonly size: number }

/** `words` is the file of one purchase's sealed words, `box` a backup of many. An unknown one may be the file of a stone. */
export type Recognised =
  | Known
  | { readonly kind: "words"; readonly kept: Keepsake }
  | { readonly kind: "box" }
  | { readonly kind: "unknown" }
  | { readonly kind: "damaged"; readonly word: string; readonly says: string }

const damaged = (word: string, says: string): Recognised => ({ kind: "damaged", word, says })

const proofIn = (text: string): Recognised => {
  const file = parseProofFile(text)
  if (file instanceof Malformed) return damaged("A damaged proof.", file.message)
  const checkpoint = parseSigned(file.checkpoint)
  return checkpoint instanceof Malformed
    ? damaged("A damaged proof.", checkpoint.message)
    : { kind: "proof", origin: checkpoint.origin, index: file.index, size: checkpoint.size }
}

export const recognise = (text: string): Recognised => {
  const begin = text.trimStart()
  if (begin.startsWith("c2sp.org/tlog-proof@")) return proofIn(text)
  if (!begin.startsWith("{")) return { kind: "unknown" }
  const json = parsed(text)
  if (json === undefined && begin.includes("spirit-altar-receipt/"))
    return damaged("A damaged receipt file.", "It is cut short or was changed. Download it again.")
  if (memberAt(json, "kind") === "spirit-altar-sealed-words") return { kind: "box" }
  const kept = readHeld(json)
  if (kept !== undefined) return { kind: "words", kept }
  if (!String(memberAt(json, "format")).startsWith("spirit-altar-receipt/")) return { kind: "unknown" }
  try {
    return { kind: "receipt", ...namedIn(text) }
  } catch (error) {
    if (error instanceof Unproven) return damaged("A damaged receipt file.", error.message)
    throw error
  }
}
