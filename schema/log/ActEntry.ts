/**
 * The entry of a settled act in the log over all acts. The hash of a record has no salt, so it would confirm a guess at a
 * hidden text. The signed receipt binds it, and its signature cannot be guessed.
 */
import { type Bytes, utf8 } from "./Bytes.ts"

export interface ActEntry {
  /** The UUID of the act. */
  readonly act: string
  /** SHA-256 of the signed receipt, a compact JWS; or of the canonical JSON of the first answer's receipt, unsigned. */
  readonly receipt: { readonly form: "jws" | "json"; readonly hash: string }
  /** The transaction that settled it; null for a card. */
  readonly transaction: string | null
}

export const actEntryOf = ({ act, receipt, transaction }: ActEntry): Bytes =>
  utf8(`spirit-altar/act/v1\nact ${act}\nreceipt ${receipt.form} ${receipt.hash}\ntransaction ${transaction ?? "-"}\n`)
