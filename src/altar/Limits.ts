/** The limits of the altar's POST routes. A payment that settles counts nowhere, so that no client is made to pay twice. */
import { Effect } from "effect"
import type { HttpServerRequest } from "effect/http"
import { RateLimited } from "../../schema/Errors.ts"
import { ClientAddress } from "../limits/ClientAddress.ts"
import type { Policy, Window } from "../limits/Policy.ts"
import { RateLimiter } from "../limits/RateLimiter.ts"

/** Reveals and unseals: a guess at sealed words costs one. */
export const openings: Policy = {
  name: "altar-openings",
  windows: [{ name: "openings", quota: 60, seconds: 60, says: "60 reveals and unseals per minute from one address" }],
}

/** Asking how a payment ended, which may ask the chain. */
export const questions: Policy = {
  name: "altar-reconciles",
  windows: [{ name: "reconciles", quota: 240, seconds: 60, says: "240 reconciles per minute from one address" }],
}

/** Payments that were refused, each of which asked the node up to four questions. */
export const refusedPayments: Policy = {
  name: "altar-refused-payments",
  windows: [
    { name: "refused-payments", quota: 60, seconds: 60, says: "60 refused payments per minute from one address" },
  ],
}

/** The refusal that a caller is told of. */
export const limited = ({ retryAfter, window }: { readonly retryAfter: number; readonly window: Window }) =>
  new RateLimited({
    retryAfter,
    message: `Too many requests: ${window.says}. Wait ${retryAfter} s; this request charged and changed nothing.`,
  })

/** Takes one request of a policy from whoever asks, or refuses with the true wait. */
export const limits = Effect.gen(function* () {
  const limiter = yield* RateLimiter
  const addresses = yield* ClientAddress
  return (policy: Policy, request: HttpServerRequest.HttpServerRequest) =>
    limiter.take(policy, addresses.of(request)).pipe(Effect.mapError(limited))
})
