/** Turns whatever does not decode into a declared refusal of the room, and takes the token from the one place it may be. */
import { Effect, Layer, Redacted, Schema } from "effect"
import { HttpServerRequest } from "effect/http"
import { HttpApiError, type HttpApiEndpoint } from "effect/http-api"
import { RoomInvite, RoomRequests } from "../../schema/room/Api.ts"
import { RoomBadRequest, RoomNotFound, RoomUnauthorized } from "../../schema/room/Errors.ts"
import { Token } from "../../schema/room/Room.ts"
import { refusalOf } from "./Body.ts"
import { refuseRoom } from "./Refusals.ts"

const explain = (error: HttpApiError.HttpApiSchemaError) => {
  switch (error.kind) {
    case "Params":
      return Effect.succeed(refuseRoom(new RoomNotFound({})))
    case "Headers":
    case "Query":
    case "Payload":
      return Effect.succeed(refuseRoom(refusalOf(error.cause)))
    // What we answer ourselves does not fit the contract: a fault of ours.
    case "Body":
    case "ResponseHeaders":
      return Effect.die(error)
  }
}

/** An endpoint without a query takes none: a token in a URL must not seem to work. */
const hasUndeclaredQuery = (request: HttpServerRequest.HttpServerRequest, endpoint: HttpApiEndpoint.Top) =>
  endpoint.query === undefined && (request.url.split("?")[1] ?? "") !== ""

const requests = Layer.succeed(RoomRequests, (httpEffect, { endpoint }) =>
  Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) =>
    hasUndeclaredQuery(request, endpoint)
      ? Effect.succeed(refuseRoom(RoomBadRequest.because("This path takes no query parameters.")))
      : httpEffect.pipe(
          Effect.catch((error) => (HttpApiError.HttpApiSchemaError.is(error) ? explain(error) : Effect.fail(error))),
        ),
  ),
)

const isToken = Schema.is(Token)

/** The scheme in any case (RFC 9110 §11.1), and what follows it. */
const bearer = /^bearer +(\S+)$/iu

/** The token of a request, from the one place where it may be. */
export const tokenOf = ({ headers }: HttpServerRequest.HttpServerRequest) => {
  const token = bearer.exec(headers["authorization"] ?? "")?.[1]
  return isToken(token) ? Effect.succeed(Redacted.make(token)) : Effect.fail(new RoomUnauthorized({}))
}

/** The contract says where a token stands; `tokenOf` reads it. */
const invite = Layer.succeed(RoomInvite, { invite: (httpEffect) => httpEffect })

export const layer = Layer.merge(requests, invite)
