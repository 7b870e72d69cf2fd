/** The lies of the card processor: its missing and false answers. */
import { randomBytes } from "node:crypto"
import type { Reply } from "./HttpServer.ts"

export const apiVersion = "2026-07-29.preview"

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

/** Answers instead of the processor's, which has not heard of the request. */
export const before = {
  dropBefore: (): Reply => "drop",
  status503Before: (): Reply => ({ status: 503, body: "upstream unavailable", type: "text/plain" }),
  nonsenseBefore: (): Reply => ({ status: 200, body: "<html>so sorry</html>", type: "text/html" }),
  unauthorizedBefore: () => reply(error(401, "invalid_request_error", { code: "api_key_expired" })),
  rateLimitBefore: () => reply(error(429, "invalid_request_error", { code: "rate_limit" })),
  // A search does not know of a charge that has just been made.
  nothingFound: () => reply({ status: 200, body: { object: "search_result", data: [], has_more: false } }),
  // A request that fails validation begins nothing, and nothing is kept of it.
  invalidBefore: () => reply(error(400, "invalid_request_error", { code: "shared_payment_token_in_use" })),
}

/** Answers instead of the truth, once the request is carried out; `neighbour` is the answer before. */
export const after = {
  status500After: () => reply(error(500, "api_error")),
  dropAfter: (): Reply => "drop",
  nonsenseAfter: (): Reply => ({ status: 200, body: JSON.stringify({ object: "payment_intent" }) }),
  hugeAfter: (): Reply => ({ status: 200, body: JSON.stringify({ filler: "x".repeat(2_000_000) }) }),
  neighbourAfter: (_: Reply, neighbour: Reply | undefined): Reply => neighbour ?? "drop",
}

/**
 * All faults. `During`: the charge is in flight, and its key is in use. `mistakeBefore` and `mistakeAfter` are the
 * processor's own: it keeps them under the idempotency key as it does every result.
 */
export type CardFault =
  | keyof typeof before
  | keyof typeof after
  | "holdBefore"
  | "holdDuring"
  | "holdAfter"
  | "delayAfter"
  | "mistakeBefore"
  | "mistakeAfter"

export const lies = [...Object.keys({ ...before, ...after }), "delayAfter"].filter(
  (name) => name !== "invalidBefore",
) as ReadonlyArray<CardFault>
