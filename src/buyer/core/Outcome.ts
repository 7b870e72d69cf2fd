/** The state machine of a purchase for library, command and page: from an answer to an outcome and the next step. */
import { type Challenge, challengeOf, readChallenge, readHeader } from "./Challenge.ts"

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
  | { readonly tag: "refused"; readonly refusal: Refusal; readonly body: Body }
  /** No answer, or one of a proxy or portal; it says nothing about a payment. */
  | { readonly tag: "silent"; readonly reason: string; readonly status?: number }

/** The reason for an answer that claims to be settled without the contract's form. */
export const unknownAnswer = "its answer is none that the contract knows"

const isObject = (value: unknown) => typeof value === "object" && value !== null

/** An answer's text as a JSON object. */
export const bodyOf = (text: string): Body => {
  try {
    const body: unknown = JSON.parse(text)
    return typeof body === "object" && body !== null ? { ...body } : {}
  } catch {
    return {}
  }
}

/** The wait an altar asks for, limited to 1 to 60 seconds; 2 when it names none. */
export const waitOf = (asked: number): number => Math.min(60, Math.max(1, asked || 2))

const retryAfterOf = ({ body, headers }: Reply): number | undefined => {
  const asked = Number(body["retryAfter"] ?? headers.get("retry-after") ?? Number.NaN)
  return Number.isFinite(asked) ? asked : undefined
}

export const readOutcome = (reply: Reply): Outcome => {
  const { body, headers, status } = reply
  const { code, message } = body
  if (body["ok"] === true) {
    if (status === 202) return { tag: "pending", seconds: waitOf(retryAfterOf(reply) ?? 2) }
    if (status === 200 || status === 201)
      return isObject(body["record"]) && isObject(body["receipt"])
        ? { tag: "settled", settlement: { body, header: readHeader(headers.get("payment-response")) } }
        : { tag: "silent", reason: unknownAnswer, status }
  }
  if (body["ok"] !== false || typeof code !== "string")
    return { tag: "silent", reason: `what answers with ${status} is not the altar`, status }
  const words = typeof message === "string" ? message : `The altar answered ${status}.`
  const refusal = { status, code, message: words, retryAfter: retryAfterOf(reply) }
  if (code !== "payment_required") return { tag: "refused", refusal, body }
  const challenge = readChallenge(headers.get("payment-required")) ?? challengeOf(body["challenge"])
  return { tag: "unpaid", challenge, refusal }
}

/** Refusals that a retry may change: a fault, a rate limit, other payments of this wallet in flight. */
const mayPass = ({ code, status }: Refusal) => status === 429 || status >= 500 || code === "reconcile_required"

export type NextStep =
  | { readonly step: "settle"; readonly settlement: Settlement }
  | { readonly step: "sign"; readonly challenge: Challenge | undefined }
  /** Ask for the outcome after this many seconds. */
  | { readonly step: "pend"; readonly seconds: number }
  /** The outcome is unknown; `refusal` is the altar's answer instead, if there was one. */
  | { readonly step: "retry"; readonly reason: string; readonly refusal: Refusal | undefined }
  /** The altar has no attempt under this key: send the same request. */
  | { readonly step: "send" }
  | { readonly step: "refuse"; readonly refusal: Refusal; readonly body: Body }

export interface RequestState {
  /** Whether the request itself was sent, or its outcome asked for. */
  readonly by: "send" | "reconcile"
  /** A payment was signed under this key. From here on, evidence ends the purchase, and nothing is signed again. */
  readonly isSigned: boolean
}

/** Only the altar's own answer ends a purchase; a fault or rate limit never ends a signed one. */
export const nextStep = (outcome: Outcome, { by, isSigned }: RequestState): NextStep => {
  switch (outcome.tag) {
    case "settled":
      return { step: "settle", settlement: outcome.settlement }
    case "pending":
      return { step: "pend", seconds: outcome.seconds }
    case "silent":
      return { step: "retry", reason: outcome.reason, refusal: undefined }
    case "unpaid":
      return isSigned
        ? { step: "refuse", refusal: outcome.refusal, body: {} }
        : { step: "sign", challenge: outcome.challenge }
    case "refused": {
      const { body, refusal } = outcome
      if (by === "reconcile" && refusal.status === 404) return { step: "send" }
      const isPassing = mayPass(refusal) && (isSigned || refusal.code !== "payments_unavailable")
      return isPassing ? { step: "retry", reason: refusal.message, refusal } : { step: "refuse", refusal, body }
    }
  }
}
