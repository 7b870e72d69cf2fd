/** The entry of a settled act in the log over all acts. It has hashes alone, so no text that may have to be hidden. */
import { type Bytes, utf8 } from "./Bytes.ts"

export interface ActEntry {
  /** The UUID of the act. */
  readonly act: string
  /** SHA-256 of the canonical JSON (RFC 8785) of the record, as the first answer had it. */
  readonly record: string
  /** SHA-256 of the signed receipt, a compact JWS; or of the canonical JSON of the first answer's receipt, unsigned. */
  readonly receipt: { readonly form: "jws" | "json"; readonly hash: string }
  /** The transaction that settled it; null for a card. */
  readonly transaction: string | null
}

export const actEntryOf = ({ act, receipt, record, transaction }: ActEntry): Bytes =>
  utf8(
    `spirit-altar/act/v1\nact ${act}\nrecord ${record}\nreceipt ${receipt.form} ${receipt.hash}\ntransaction ${transaction ?? "-"}\n`,
  )
