/** Makes errors for callers, and reads those of others. */
import { AltarError, type Code, Misrecorded, Open, Refused } from "./Errors.ts"

export { Misrecorded, Open, Refused }

/** Every way a purchase can end without its act. */
export type Unsettled = Refused | Open | Misrecorded

export const isUnsettled = (error: unknown): error is Unsettled => error instanceof AltarError

export const refuse = (code: Code, message: string, key?: string) => new Refused({ code, message, key })

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** The deepest cause: `fetch failed` alone names no fault. */
const rootOf = (error: unknown): unknown => {
  const cause = error instanceof AggregateError ? error.errors[0] : error instanceof Error ? error.cause : undefined
  return cause instanceof Error ? rootOf(cause) : error
}

/** The reason of a missing answer, in one line. */
export const reasonOf = (error: unknown): string => {
  const root = rootOf(error)
  return (root instanceof Error ? (root.message.split("\n")[0] ?? "").replace(/[.:]$/u, "") : "") || "no answer"
}
