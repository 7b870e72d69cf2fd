/** How the room reads and refuses a request: its token, its body, and what the contract cannot decode. */
import { Effect, Layer, Redacted, Schema } from "effect"
import type { HttpServerRequest } from "effect/http"
import type { Issue } from "../../schema/Errors.ts"
import { RoomInvite, RoomRequests } from "../../schema/room/Api.ts"
import { RoomBadRequest, RoomNotFound, RoomTooLarge, RoomUnauthorized } from "../../schema/room/Errors.ts"
import { Token } from "../../schema/room/Room.ts"
import * as Body from "../http/Body.ts"
import { refusedBy } from "../http/Requests.ts"
import { refuseRoom } from "./Refusals.ts"

/** The issues as one sentence. */
export const malformed = (issues: ReadonlyArray<Issue>) =>
  RoomBadRequest.because(
    issues
      .slice(0, 3)
      .map(({ message, path }) => (path === "" ? message : `${path}: ${message}`))
      .join("; "),
  )

export const body = Body.reader<RoomBadRequest | RoomTooLarge>({
  limit: 4096,
  isTypeRequired: true,
  tooLarge: () => new RoomTooLarge({}),
  unsupported: () => RoomBadRequest.because("Send the body as Content-Type: application/json."),
  malformed,
})

const isToken = Schema.is(Token)

/** The scheme in any case (RFC 9110 §11.1), and what follows it. */
const bearer = /^bearer +(\S+)$/iu

/** The token of a request, from the one place where it may be. */
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
      // The names are not repeated: one may be a token.
      undeclared: () => refuseRoom(RoomBadRequest.because("This path takes no query parameters.")),
    }),
  ),
  // The contract says where a token stands; `tokenOf` reads it.
  Layer.succeed(RoomInvite, { invite: (httpEffect) => httpEffect }),
)
