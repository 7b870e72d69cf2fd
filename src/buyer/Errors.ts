/** The errors of the library: each has a code for programs and a sentence for people. */
import type { Difference } from "./core/Difference.ts"

/** The codes of this library. A refusal of the altar has the altar's code, as `/docs/errors` lists them. */
export type Code =
  | "above_day_limit"
  | "above_limit"
  | "bad_request"
  | "bad_url"
  | "foreign_resource"
  | "idempotency_key_invalid"
  | "insecure_url"
  | "journal_unavailable"
  | "key_in_use"
  | "key_unknown"
  | "misrecorded"
  | "no_account"
  | "not_forgettable"
  | "not_sealed"
  | "not_signed"
  | "other_asset"
  | "other_lifetime"
  | "other_network"
  | "other_payee"
  | "other_scheme"
  | "outcome_open"
  | "reveal_broken"
  | "too_cheap"
  | "too_dear"
  | "unknown_act"
  | "unknown_network"
  | "unreachable"
  | "unreadable_terms"
  | "words_ambiguous"
  | "words_differ"
  | "words_unknown"
  | (string & {})

interface Parts {
  readonly code: Code
  readonly message: string
  readonly key?: string | undefined
}

/** Any error of this library; the message says what to do and what was charged. */
export class AltarError extends Error {
  /** For programs; messages may change. */
  readonly code: Code
  /** The key of the purchase, if the call was about one. */
  readonly key: string | undefined
  constructor({ code, key, message }: Parts) {
    super(message)
    this.code = code
    this.key = key
  }
}

/** Final: the call did nothing, or the purchase ended unpaid. */
export class Refused extends AltarError {
  readonly _tag = "Refused"
  override readonly name = "Refused"
}

/** Signed, or being signed by another call, and the outcome is unknown. The same key resumes the purchase without signing. */
export class Open extends AltarError {
  readonly _tag = "Open"
  override readonly name = "Open"
  declare readonly key: string
  constructor({ key, message }: Omit<Parts, "code"> & Pick<Open, "key">) {
    super({ code: "outcome_open", key, message })
  }
}

/** The altar recorded something else than was bought. Signed payment and answer stay in the journal. */
export class Misrecorded extends AltarError {
  readonly _tag = "Misrecorded"
  override readonly name = "Misrecorded"
  declare readonly key: string
  readonly differences: ReadonlyArray<Difference>
  constructor({ differences, ...parts }: Omit<Parts, "code" | "key"> & Pick<Misrecorded, "differences" | "key">) {
    super({ code: "misrecorded", ...parts })
    this.differences = differences
  }
}
