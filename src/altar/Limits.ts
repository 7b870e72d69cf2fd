/** The limits of the altar's free POST routes; paid routes have none, so that no client is ever made to pay twice. */
import { Effect } from "effect"
import type { HttpServerRequest } from "effect/http"
import { RateLimited } from "../../schema/Errors.ts"
import { ClientAddress } from "../limits/ClientAddress.ts"
import type { Policy } from "../limits/Policy.ts"
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

/** Takes one request of a policy from whoever asks, or refuses with the true wait. */
export const limits = Effect.gen(function* () {
  const limiter = yield* RateLimiter
  const addresses = yield* ClientAddress
  return (policy: Policy, request: HttpServerRequest.HttpServerRequest) =>
    limiter.take(policy, addresses.of(request)).pipe(
      Effect.mapError(
        ({ retryAfter, window }) =>
          new RateLimited({
            retryAfter,
            message: `Too many requests: ${window.says}. Wait ${retryAfter} s; this request charged and changed nothing.`,
          }),
      ),
    )
})
