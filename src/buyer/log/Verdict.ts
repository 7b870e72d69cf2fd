/** What a check of the log ends with. */
import type { Malformed } from "../../../schema/log/Bytes.ts"
import { Unsupported } from "./WebCrypto.ts"

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

export const notProven = (fault: NotProven["fault"], reason: string): NotProven => ({ ok: false, fault, reason })

export const malformed = ({ message }: Malformed): NotProven => notProven("malformed", message)

/** What this place cannot check becomes a verdict; what nobody expected stays an error. */
export const orUnsupported = (error: unknown): NotProven => {
  if (error instanceof Unsupported) return notProven("unsupported", error.message)
  throw error
}
