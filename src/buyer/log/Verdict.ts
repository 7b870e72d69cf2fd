/** What a check of the log ends with. */
import { Malformed } from "../../../schema/log/Bytes.ts"

export interface NotProven {
  readonly ok: false
  /** `unsupported` proves nothing either way: this place cannot check. */
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
  /** A sentence for whoever asked. */
  readonly reason: string
}

/** Thrown where a check ends; `verdictOf` makes an answer of it. */
export class Unproven extends Error {
  readonly fault: NotProven["fault"]
  constructor(fault: NotProven["fault"], reason: string) {
    super(reason)
    this.fault = fault
  }
}

/** The value that was read, unless reading failed. */
export const formed = <A>(parsed: A | Malformed, fault: NotProven["fault"] = "malformed"): A => {
  if (parsed instanceof Malformed) throw new Unproven(fault, parsed.message)
  return parsed
}

/** What is not proved is an answer; what nobody expected stays an error. */
export const verdictOf = <A>(check: () => Promise<A>): Promise<A | NotProven> =>
  Promise.resolve()
    .then(check)
    .catch((error: unknown): NotProven => {
      if (error instanceof Unproven) return { ok: false, fault: error.fault, reason: error.message }
      throw error
    })
