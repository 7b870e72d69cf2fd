/** The routes of the signal room as one contract: every status, header and code a caller can meet. */
import { Schema } from "effect"
import {
  HttpApiEndpoint,
  HttpApiGroup,
  HttpApiMiddleware,
  HttpApiSchema,
  HttpApiSecurity,
  OpenApi,
} from "effect/http-api"
import type { Group } from "../Group.ts"
import { header, whole } from "../Fields.ts"
import { headed, waiting, waits } from "../Refusal.ts"
import { optionalBody } from "../openapi/OptionalBody.ts"
import * as Errors from "./Errors.ts"
import { MessageBody } from "./Message.ts"
import { Created, Deleted, Replayed, RoomBody, RoomId, Sent, Signals } from "./Room.ts"

/** Turns every undecodable request into a declared refusal; the server provides the layer. */
export class RoomRequests extends HttpApiMiddleware.Service<RoomRequests>()("spirit-altar/schema/room/RoomRequests", {
  error: [
    Errors.RoomBadRequest,
    Errors.RoomForbidden,
    Errors.RoomNotFound,
    Errors.RoomTooLarge,
    Errors.RoomInternal,
    Errors.RoomUnavailable,
  ],
}) {}

const Unauthorized = Errors.RoomUnauthorized.pipe(
  HttpApiSchema.encodeToWithHeaders(
    { body: Errors.RoomUnauthorized, headers: { "www-authenticate": header("`Bearer`", "Bearer") } },
    headed(() => ({ "www-authenticate": "Bearer" })),
  ),
)

export class RoomInvite extends HttpApiMiddleware.Service<RoomInvite>()("spirit-altar/schema/room/RoomInvite", {
  error: Unauthorized,
  security: {
    invite: HttpApiSecurity.bearer.pipe(
      HttpApiSecurity.annotate(OpenApi.Description, "The room's invite token: `Authorization: Bearer <ROOM_TOKEN>`."),
    ),
  },
}) {}

const left = {
  ratelimit: header(
    "The rest of each limit (IETF draft): `r` requests, and one more in `t` seconds.",
    '"reads";r=119;t=60',
    /^"[a-z0-9-]+";r=\d+;t=\d+(, "[a-z0-9-]+";r=\d+;t=\d+)*$/u,
  ),
  "ratelimit-policy": header(
    "The limits: `q` requests in any `w` seconds.",
    '"reads";q=120;w=60',
    /^"[a-z0-9-]+";q=\d+;w=\d+(, "[a-z0-9-]+";q=\d+;w=\d+)*$/u,
  ),
}

const RateLimited = Errors.RoomRateLimited.pipe(
  HttpApiSchema.encodeToWithHeaders(
    { body: Errors.RoomRateLimited, headers: { ...waits, ...left } },
    headed(({ left, retryAfter }) => ({ "retry-after": String(retryAfter), ...left })),
  ),
)

const limited = <S extends Schema.Top>(answer: S) => HttpApiSchema.WithHeaders(answer, left)

const Full = Errors.RoomsFull.pipe(
  HttpApiSchema.encodeToWithHeaders({ body: Errors.RoomsFull, headers: waits }, waiting()),
)

/** Summary and description of an operation. */
export const described = (summary: string, description: string) => OpenApi.annotations({ summary, description })

const room = { roomId: RoomId }
const roomErrors = [RateLimited, Errors.RoomNotFound, Errors.RoomExpired] as const

const createRoom = HttpApiEndpoint.post("createRoom", "/api/rooms", {
  payload: [RoomBody, HttpApiSchema.NoContent],
  success: limited(Created.pipe(HttpApiSchema.status(201))),
  error: [RateLimited, Full],
})
  .annotateMerge(
    described(
      "Create a room",
      "The answer holds the invite token, once. The room lives exactly seven days. 5 per hour and 10 per day from one address; of IPv6 4 times as many from a /56 and 20 times from a /48. 503 `ROOMS_FULL` at the server's maximum of rooms.",
    ),
  )
  .annotateMerge(optionalBody)

const poll = {
  params: room,
  query: {
    after: Schema.optionalKey(
      whole({ minimum: 0, default: 0, description: "Only messages with a greater sequence; 0 for the latest 50." }),
    ),
  },
  success: limited(Signals),
  error: roomErrors,
}

const readRoom = HttpApiEndpoint.get("readRoom", "/api/rooms/:roomId", poll)
  .middleware(RoomInvite)
  .annotateMerge(
    described(
      "Poll a room",
      "Stored messages after the cursor, oldest first. Poll every 3 seconds while the room is in view. 120 per minute from one address.",
    ),
  )

const streamRoom = HttpApiEndpoint.get("streamRoom", "/api/rooms/:roomId/stream", poll)
  .middleware(RoomInvite)
  .annotateMerge(described("Poll a room (alias)", "The same JSON as readRoom, not an event stream."))

const send = {
  params: room,
  payload: MessageBody,
  success: [limited(Sent.pipe(HttpApiSchema.status(201))), limited(Replayed.pipe(HttpApiSchema.status(200)))] as const,
  error: [...roomErrors, Errors.RoomConflict] as const,
}

const sendMessage = HttpApiEndpoint.post("sendMessage", "/api/rooms/:roomId/messages", send)
  .middleware(RoomInvite)
  .annotateMerge(
    described(
      "Send a message",
      "A clientId makes it safe to retry: the same content returns the original message. 20 per minute from one address (80 from an IPv6 /56, 400 from a /48), 30 new ones per minute in a room.",
    ),
  )

const sendMessageToRoom = HttpApiEndpoint.post("sendMessageToRoom", "/api/rooms/:roomId", send)
  .middleware(RoomInvite)
  .annotateMerge(described("Send a message (alias)", "The same as sendMessage."))

const deleteRoom = HttpApiEndpoint.delete("deleteRoom", "/api/rooms/:roomId", {
  params: room,
  success: limited(Deleted),
  error: roomErrors,
})
  .middleware(RoomInvite)
  .annotateMerge(described("Delete a room", "Deletes it at once for everyone. 10 per minute from one address."))

export const RoomsGroup: Group<
  "rooms",
  | typeof createRoom
  | typeof readRoom
  | typeof streamRoom
  | typeof sendMessage
  | typeof sendMessageToRoom
  | typeof deleteRoom,
  RoomRequests
> = HttpApiGroup.make("rooms")
  .add(createRoom, readRoom, streamRoom, sendMessage, sendMessageToRoom, deleteRoom)
  .middleware(RoomRequests)
  .annotateMerge(
    OpenApi.annotations({
      title: "Signal rooms",
      description:
        "Private rooms for short signals between people and agents, reachable by an invite token. The room's clock and limits are exact; messages are plaintext to the service.",
    }),
  )
