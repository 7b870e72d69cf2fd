/** One line for each check of a receipt: it holds, it is broken, or it was not shown. */
import { Unproven } from "../log/Verdict.ts"

export interface ReceiptCheck {
  readonly name: string
  /** `open` proves nothing either way: the file or the reader lacks what the check needs. */
  readonly state: "holds" | "broken" | "open"
  /** A sentence about what was shown, or why not. */
  readonly says: string
  /** The keys or policy of the reader are of other logs or signers, so nothing was computed. */
  readonly isForeign?: true
}

export const holds = (name: string, says: string): ReceiptCheck => ({ name, state: "holds", says })
export const open = (name: string, says: string): ReceiptCheck => ({ name, state: "open", says })

export const unless = (isFine: boolean, says: string) => {
  if (!isFine) throw new Unproven("malformed", says)
}

/** Whether nothing is broken, and each key that the reader named was used. */
export const isSound = (checks: ReadonlyArray<ReceiptCheck>) =>
  checks.every(({ isForeign, state }) => state !== "broken" && isForeign !== true)

/** A check whose fault is its answer. Nesting that no parser follows is a fault, too. */
export const checked = (name: string, check: () => Promise<ReceiptCheck>): Promise<ReceiptCheck> =>
  Promise.resolve()
    .then(check)
    .catch((error: unknown): ReceiptCheck => {
      if (error instanceof Unproven) {
        if (error.fault === "key" || error.fault === "origin") return { ...open(name, error.message), isForeign: true }
        return { name, state: error.fault === "unsupported" ? "open" : "broken", says: error.message }
      }
      if (error instanceof RangeError) return { name, state: "broken", says: "It is nested too deeply to be read." }
      throw error
    })
