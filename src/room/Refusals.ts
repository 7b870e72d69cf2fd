/** A refusal of the signal room as a response, in its own format and never cached. */
import { HttpServerResponse } from "effect/http"
import { type RoomRefusal, statusOf } from "../../schema/room/Errors.ts"

export const refuseRoom = (refusal: RoomRefusal, headers: Record<string, string> = {}) => {
  const { error } = refusal
  const body = "retryAfter" in refusal ? { error, retryAfter: refusal.retryAfter } : { error }
  const scheme: Record<string, string> = error.code === "UNAUTHORIZED" ? { "www-authenticate": "Bearer" } : {}
  return HttpServerResponse.jsonUnsafe(body, {
    status: statusOf[error.code],
    headers: { "cache-control": "no-store", ...scheme, ...headers },
  })
}
