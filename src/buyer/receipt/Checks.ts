/** One line for each check of a receipt: it holds, it is broken, or it was not shown. */
import { type NotProven, Unproven, verdictOf } from "../core/Verdict.ts"

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
export const broken = (name: string, says: string): ReceiptCheck => ({ name, state: "broken", says })
export const open = (name: string, says: string): ReceiptCheck => ({ name, state: "open", says })

export const unless = (isFine: boolean, says: string) => {
  if (!isFine) throw new Unproven("malformed", says)
}

/** Whether nothing is broken, and each key that the reader named was used. */
export const isSound = (checks: ReadonlyArray<ReceiptCheck>) =>
  checks.every(({ isForeign, state }) => state !== "broken" && isForeign !== true)

/** The line of a fault: keys that are not those of the file show nothing, nor does a platform that cannot check. */
export const fault = (name: string, { fault: kind, reason }: Pick<NotProven, "fault" | "reason">): ReceiptCheck => {
  if (kind === "key" || kind === "origin") return { ...open(name, reason), isForeign: true }
  return { name, state: kind === "unsupported" ? "open" : "broken", says: reason }
}

/** A check whose fault is its answer. Nesting that no parser follows is a fault, too. */
export const checked = (name: string, check: () => Promise<ReceiptCheck>): Promise<ReceiptCheck> =>
  verdictOf(check).then(
    (result) => ("ok" in result ? fault(name, result) : result),
    (error: unknown) => {
      if (error instanceof RangeError)
        return fault(name, { fault: "malformed", reason: "It is nested too deeply to be read." })
      throw error
    },
  )
