/** A refusal of the signal room as a response, in its own format and never cached. */
import { HttpServerResponse } from "effect/http"
import { RoomRateLimited, type RoomRefusal, RoomUnauthorized } from "../../schema/room/Errors.ts"
import { statusOf, waitOf } from "../../schema/Refusal.ts"

const headersOf = (refusal: RoomRefusal): Readonly<Record<string, string>> =>
  refusal instanceof RoomUnauthorized
    ? { "www-authenticate": "Bearer" }
    : refusal instanceof RoomRateLimited
      ? refusal.left
      : {}

export const refuseRoom = (refusal: RoomRefusal, headers: Record<string, string> = {}) => {
  const { error } = refusal
  const wait = waitOf(refusal)
  return HttpServerResponse.jsonUnsafe(
    "retryAfter" in refusal ? { error, retryAfter: refusal.retryAfter } : { error },
    {
      status: statusOf(refusal),
      headers: {
        "cache-control": "no-store",
        ...(wait === undefined ? {} : { "retry-after": String(wait) }),
        ...headersOf(refusal),
        ...headers,
      },
    },
  )
}
