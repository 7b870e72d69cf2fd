/** The verdict of a check of the log. */
import { Malformed } from "../../../schema/log/Bytes.ts"

export interface NotProven {
  readonly ok: false
  /** `unsupported` proves nothing either way: this platform cannot check. */
  readonly fault:
    | "malformed"
    | "key"
    | "origin"
    | "signature"
    | "cosignatures"
    | "stone"
    | "inclusion"
    | "consistency"
    | "unsupported"
  /** A sentence for the caller. */
  readonly reason: string
}

/** Thrown to end a check; `verdictOf` turns it into an answer. */
export class Unproven extends Error {
  readonly fault: NotProven["fault"]
  constructor(fault: NotProven["fault"], reason: string) {
    super(reason)
    this.fault = fault
  }
}

/** The parsed value; throws when parsing failed. */
export const formed = <A>(parsed: A | Malformed, fault: NotProven["fault"] = "malformed"): A => {
  if (parsed instanceof Malformed) throw new Unproven(fault, parsed.message)
  return parsed
}

/** An unproven claim is an answer; an unexpected error stays an error. */
export const verdictOf = <A>(check: () => Promise<A>): Promise<A | NotProven> =>
  Promise.resolve()
    .then(check)
    .catch((error: unknown): NotProven => {
      if (error instanceof Unproven) return { ok: false, fault: error.fault, reason: error.message }
      throw error
    })
