/** The lies of the card processor: what it answers instead of an answer, and instead of the truth. */
import { randomBytes } from "node:crypto"
import type { Reply } from "./HttpServer.ts"

export const apiVersion = "2026-07-29.preview"

/** Lies of the wire before it. `Before`: it has not heard of the request. `After`: it has done it. */
export const lies = [
  "dropBefore",
  "status503Before",
  "rateLimitBefore",
  "unauthorizedBefore",
  "redirectBefore",
  "nonsenseBefore",
  "delayAfter",
  "status500After",
  "dropAfter",
  "nonsenseAfter",
  "hugeAfter",
  "neighbourAfter",
  "nothingFound",
] as const

/**
 * What else happens to a charge. `During`: it is being worked on, and its key is in use. `mistakeBefore` and `mistakeAfter` are
 * the processor's own: it keeps them under the idempotency key as it does every result.
 */
export type CardFault =
  | (typeof lies)[number]
  | "holdBefore"
  | "invalidBefore"
  | "holdDuring"
  | "mistakeBefore"
  | "mistakeAfter"
  | "holdAfter"
  | "foreignAfter"

export interface Result {
  readonly status: number
  readonly body: object
}

export const id = (prefix: string) => `${prefix}_${randomBytes(12).toString("hex")}`
export const error = (status: number, type: string, more: object = {}): Result => ({
  status,
  body: { error: { type, message: "See the code.", ...more } },
})
export const reply = ({ body, status }: Result, headers: Record<string, string> = {}): Reply => ({
  status,
  body: JSON.stringify(body),
  headers: { "request-id": id("req"), "stripe-version": apiVersion, ...headers },
})

/** What is answered instead of an answer; nothing where the processor hears of it. */
export const before = (fault: CardFault | undefined, elsewhereUrl: string): Reply | undefined => {
  switch (fault) {
    case "dropBefore":
      return "drop"
    case "status503Before":
      return { status: 503, body: "upstream unavailable", type: "text/plain" }
    case "nonsenseBefore":
      return { status: 200, body: "<html>so sorry</html>", type: "text/html" }
    case "redirectBefore":
      return { status: 307, body: "", headers: { location: elsewhereUrl } }
    case "unauthorizedBefore":
      return reply(error(401, "invalid_request_error", { code: "api_key_expired" }))
    case "rateLimitBefore":
      return reply(error(429, "invalid_request_error", { code: "rate_limit" }))
    case "invalidBefore":
      // What fails validation began nothing, and nothing is kept of it.
      return reply(error(400, "invalid_request_error", { code: "shared_payment_token_in_use" }))
    case "nothingFound":
      // A search is behind what has just been charged.
      return reply({ status: 200, body: { object: "search_result", data: [], has_more: false } })
    default:
      return undefined
  }
}

/** What is answered instead of the truth, once it is done. */
export const after = (fault: CardFault | undefined, truth: Reply, neighbour: Reply | undefined): Reply => {
  switch (fault) {
    case "status500After":
      return reply(error(500, "api_error"))
    case "dropAfter":
      return "drop"
    case "nonsenseAfter":
      return { status: 200, body: JSON.stringify({ object: "payment_intent" }) }
    case "hugeAfter":
      return { status: 200, body: JSON.stringify({ filler: "x".repeat(2_000_000) }) }
    case "neighbourAfter":
      return neighbour ?? "drop"
    case "foreignAfter": {
      if (truth === "drop") return truth
      return {
        ...truth,
        body: JSON.stringify({ ...JSON.parse(truth.body), id: id("pi"), metadata: { attempt: "another" } }),
      }
    }
    default:
      return truth
  }
}
