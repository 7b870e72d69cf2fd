/** Rate limits of the altar's POST routes. Settled payments are not counted, so no client is made to pay twice. */
import { Effect } from "effect"
import type { HttpServerRequest } from "effect/http"
import { RateLimited } from "../../schema/Errors.ts"
import { ClientAddress } from "../limits/ClientAddress.ts"
import type { Limit, Window } from "../limits/Limit.ts"
import { RateLimiter } from "../limits/RateLimiter.ts"

/** Reveals and unseals; each guess at sealed words counts. */
export const openings: Limit = [
  { name: "openings", quota: 60, seconds: 60, says: "60 reveals and unseals per minute from one address" },
]

/** Reconcile requests, which may query the chain. */
export const questions: Limit = [
  { name: "reconciles", quota: 240, seconds: 60, says: "240 reconciles per minute from one address" },
]

/** Refused payments, each of which cost up to four calls to the node. */
export const refusedPayments: Limit = [
  { name: "refused-payments", quota: 60, seconds: 60, says: "60 refused payments per minute from one address" },
]

export const limited = ({ retryAfter, window }: { readonly retryAfter: number; readonly window: Window }) =>
  new RateLimited({
    retryAfter,
    message: `Too many requests: ${window.says}. Wait ${retryAfter} s; this request charged and changed nothing.`,
  })

/** Counts one request of a limit for the caller's address, or refuses it with the exact wait. */
export const limits = Effect.gen(function* () {
  const limiter = yield* RateLimiter
  const addresses = yield* ClientAddress
  return (limit: Limit, request: HttpServerRequest.HttpServerRequest) =>
    limiter
      .take(limit, addresses.of(request))
      .pipe(Effect.catchTag("Exceeded", (exceeded) => Effect.fail(limited(exceeded))))
})
