/** Turns whatever does not decode into a declared refusal of the room, and takes the token from the one place it may be. */
import { Effect, Layer, Redacted, Schema } from "effect"
import { HttpServerRequest } from "effect/http"
import { HttpApiError, type HttpApiEndpoint } from "effect/http-api"
import { Invite, RoomInvite, RoomRequests } from "../../schema/room/Api.ts"
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

const scheme = "Bearer "

/** The token of an `Authorization` header, where it is one and nothing else. */
export const tokenIn = (authorization: string | undefined): Redacted.Redacted<string> | undefined => {
  const token = authorization?.startsWith(scheme) === true ? authorization.slice(scheme.length) : ""
  return isToken(token) ? Redacted.make(token) : undefined
}

const invite = Layer.succeed(RoomInvite, {
  invite: (httpEffect, { credential }) =>
    isToken(Redacted.value(credential))
      ? Effect.provideService(httpEffect, Invite, credential)
      : Effect.fail(new RoomUnauthorized({})),
})

export const layer = Layer.merge(requests, invite)
