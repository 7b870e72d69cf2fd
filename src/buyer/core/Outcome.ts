/** The meaning of an answer to a paid request. Only the altar's own answer says anything about a payment. */
import { type Challenge, challengeOf, readChallenge, readHeader } from "./Challenge.ts"
import { isMembers, parsed } from "./Json.ts"

/** A JSON object; empty when the answer held none. */
export type Body = Readonly<Record<string, unknown>>

export interface Reply {
  readonly status: number
  readonly headers: Headers
  readonly body: Body
}

export interface Refusal {
  readonly status: number
  readonly code: string
  readonly message: string
  /** Seconds until a retry makes sense, where the altar says so. */
  readonly retryAfter: number | undefined
  readonly body: Body
}

/** A settled answer, not yet compared with the purchase. */
export interface Settlement {
  readonly body: Body
  /** The content of `PAYMENT-RESPONSE`, where present. */
  readonly header: unknown
}

export type Outcome =
  | { readonly tag: "settled"; readonly settlement: Settlement }
  /** Unknown so far; ask again after this many seconds. */
  | { readonly tag: "pending"; readonly seconds: number }
  /** Nothing is reserved; the challenge is undefined when it is unsupported. */
  | { readonly tag: "unpaid"; readonly challenge: Challenge | undefined; readonly refusal: Refusal }
  | { readonly tag: "refused"; readonly refusal: Refusal }
  /** No answer, or one of a proxy or portal; it says nothing about a payment. */
  | { readonly tag: "silent"; readonly reason: string; readonly retryAfter?: number | undefined }

/** The reason for an answer that claims to be settled without the contract's form. */
export const unknownAnswer = "its answer is none that the contract knows"

/** An answer's text as a JSON object. */
export const bodyOf = (text: string): Body => {
  const body = parsed(text)
  return isMembers(body) ? body : {}
}

/** The longest wait in seconds that a buyer takes from an answer. */
export const longestWait = 600

/** The wait that an answer asks for, limited to 1 second to 10 minutes. */
export const waitOf = (seconds: number): number => Math.min(longestWait, Math.max(1, seconds))

/** Seconds of a `Retry-After`: a number, or a date (RFC 9110). */
const secondsOf = (text: string | null): number | undefined => {
  if (text === null) return undefined
  if (/^\s*\d+\s*$/u.test(text)) return Number(text)
  const until = Date.parse(text)
  return Number.isNaN(until) ? undefined : Math.max(0, Math.ceil((until - Date.now()) / 1000))
}

/** The longer of header and body: a proxy writes the one, the altar both. */
const retryAfterOf = ({ body, headers }: Reply): number | undefined => {
  const wait = body["retryAfter"]
  const all = [secondsOf(headers.get("retry-after")), typeof wait === "number" && wait >= 0 ? wait : undefined]
  const waits = all.filter((seconds) => seconds !== undefined)
  return waits.length === 0 ? undefined : Math.max(...waits)
}

export const readOutcome = (reply: Reply): Outcome => {
  const { body, headers, status } = reply
  const { code, message } = body
  const retryAfter = retryAfterOf(reply)
  if (body["ok"] === true) {
    if (status === 202) return { tag: "pending", seconds: waitOf(retryAfter ?? 2) }
    if (status === 200 || status === 201)
      return isMembers(body["record"]) && isMembers(body["receipt"])
        ? { tag: "settled", settlement: { body, header: readHeader(headers.get("payment-response")) } }
        : { tag: "silent", reason: unknownAnswer, retryAfter }
  }
  if (body["ok"] !== false || typeof code !== "string")
    return { tag: "silent", reason: `the altar answered ${status}`, retryAfter }
  const words = typeof message === "string" ? message : `The altar answered ${status}.`
  const refusal = { status, code, message: words, retryAfter, body }
  if (code !== "payment_required") return { tag: "refused", refusal }
  const challenge = readChallenge(headers.get("payment-required")) ?? challengeOf(body["challenge"])
  return { tag: "unpaid", challenge, refusal }
}
