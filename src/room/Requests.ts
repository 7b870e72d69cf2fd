/** Requests of the signal room: token, body, and refusals of invalid ones. */
import { Effect, Layer, Redacted, Schema } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import { statusOf, waitOf } from "../../schema/Refusal.ts"
import type { Issue } from "../../schema/Errors.ts"
import { RoomInvite, RoomRequests } from "../../schema/room/Api.ts"
import {
  RoomBadRequest,
  RoomNotFound,
  RoomRateLimited,
  type RoomRefusal,
  RoomTooLarge,
  RoomUnauthorized,
} from "../../schema/room/Errors.ts"
import { Token } from "../../schema/room/Room.ts"
import * as Body from "../http/Body.ts"
import { refusedBy } from "../http/Requests.ts"
import { listed } from "../platform/Issues.ts"

const headersOf = (refusal: RoomRefusal): Readonly<Record<string, string>> =>
  refusal instanceof RoomUnauthorized
    ? { "www-authenticate": "Bearer" }
    : refusal instanceof RoomRateLimited
      ? refusal.left
      : {}

/** A refusal in the room's own format, never cached. */
export const refuseRoom = (refusal: RoomRefusal, headers: Record<string, string> = {}) => {
  const { error } = refusal
  const wait = waitOf(refusal)
  const body = {
    error,
    ...("retryAfter" in refusal ? { retryAfter: refusal.retryAfter } : {}),
    ...("limit" in refusal ? { limit: refusal.limit } : {}),
  }
  return HttpServerResponse.jsonUnsafe(body, {
    status: statusOf(refusal),
    headers: {
      "cache-control": "no-store",
      ...(wait === undefined ? {} : { "retry-after": String(wait) }),
      ...headersOf(refusal),
      ...headers,
    },
  })
}

export const malformed = (issues: ReadonlyArray<Issue>) =>
  RoomBadRequest.because(
    `${listed(issues.slice(0, 3)).replace(/^Must /u, "The body must ")}. Correct this and send the request again.`,
  )

export const body = Body.reader<RoomBadRequest | RoomTooLarge>({
  limit: 4096,
  isTypeRequired: true,
  tooLarge: () => new RoomTooLarge({}),
  unsupported: () => RoomBadRequest.because("Send the body as Content-Type: application/json."),
  malformed,
})

const isToken = Schema.is(Token)

/** The scheme in any case (RFC 9110 §11.1), followed by the token. */
const bearer = /^bearer +(\S+)$/iu

/** The token of a request, accepted only in `Authorization`. */
export const tokenOf = ({ headers }: HttpServerRequest.HttpServerRequest) => {
  const token = bearer.exec(headers["authorization"] ?? "")?.[1]
  return isToken(token) ? Effect.succeed(Redacted.make(token)) : Effect.fail(new RoomUnauthorized({}))
}

export const layer = Layer.merge(
  Layer.succeed(
    RoomRequests,
    refusedBy({
      unknown: () => refuseRoom(new RoomNotFound({})),
      malformed: (issues) => refuseRoom(malformed(issues)),
      // The names are not repeated, since one may be a token.
      undeclared: () => refuseRoom(RoomBadRequest.because("This path takes no query parameters. Leave them out.")),
    }),
  ),
  // The contract declares the token; `tokenOf` reads it.
  Layer.succeed(RoomInvite, { invite: (httpEffect) => httpEffect }),
)
