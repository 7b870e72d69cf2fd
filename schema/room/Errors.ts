/** Every refusal of the signal room: `{error: {code, message}}`, one class a code. */
import { Effect, Schema } from "effect"
import { sentence, upTo } from "../Fields.ts"
import { at, messageOf } from "../Refusal.ts"

/** A room costs nothing, so its messages do not say what was charged. */
const error = <const Code extends string>(code: Code, fault: string, remedy: string) => {
  const { message, schema } = messageOf(fault, remedy)
  return {
    error: Schema.Struct({ code: Schema.Literal(code), message: schema }).pipe(
      Schema.withConstructorDefault(Effect.succeed({ code, message })),
    ),
  }
}

export class RoomBadRequest extends Schema.Error<RoomBadRequest>("RoomBadRequest")(
  error("BAD_REQUEST", "The request does not have the documented form.", "Correct it and send it again."),
  at(400, "The request does not have the documented form, or its body is not JSON."),
) {
  static readonly because = (message: string) => new RoomBadRequest({ error: { code: "BAD_REQUEST", message } })
}

export class RoomUnauthorized extends Schema.Error<RoomUnauthorized>("RoomUnauthorized")(
  error(
    "UNAUTHORIZED",
    "The token is missing or wrong.",
    "Send the room's invite token as Authorization: Bearer <token>.",
  ),
  at(401, "The Authorization header is missing, malformed, or holds another room's token."),
) {}

export class RoomForbidden extends Schema.Error<RoomForbidden>("RoomForbidden")(
  error(
    "FORBIDDEN",
    "Pages of other origins may not use the signal room.",
    "Open the page of this server, or call from a program, without an Origin header.",
  ),
  at(403, "A foreign browser origin."),
) {}

export class RoomNotFound extends Schema.Error<RoomNotFound>("RoomNotFound")(
  error("NOT_FOUND", "No room or path is here. The room may have been deleted.", "Check the id, or create a new room."),
  at(404, "No such room or path."),
) {}

export class RoomMethodNotAllowed extends Schema.Error<RoomMethodNotAllowed>("RoomMethodNotAllowed")(
  error("METHOD_NOT_ALLOWED", "This path does not support that method.", "Use a method that the Allow header lists."),
  at(405, "Method not allowed; see Allow."),
) {}

export class RoomConflict extends Schema.Error<RoomConflict>("RoomConflict")(
  error("CONFLICT", "This clientId was used with other content.", "Choose a new one for a new message."),
  at(409, "The clientId names another message."),
) {}

export class RoomExpired extends Schema.Error<RoomExpired>("RoomExpired")(
  error("EXPIRED", "This room has reached the end of its seven days.", "Create a new one."),
  at(410, "The room has expired."),
) {}

export class RoomTooLarge extends Schema.Error<RoomTooLarge>("RoomTooLarge")(
  error("TOO_LARGE", "The body is larger than 4096 bytes.", "Shorten it, or send it as several messages."),
  at(413, "The body is larger than 4096 bytes."),
) {}

export class RoomRateLimited extends Schema.Error<RoomRateLimited>("RoomRateLimited")(
  {
    ...error("RATE_LIMITED", "Too many requests.", "Wait for the time in Retry-After and send the request again."),
    retryAfter: upTo(604_800).annotate({
      description: "Seconds to wait, as in Retry-After.",
    }),
    limit: sentence("20 sends per minute from one address").annotate({
      description: "The limit that is reached, in words.",
    }),
  },
  at(429, "A limit is reached; `limit` names it."),
) {
  #left = { ratelimit: "", "ratelimit-policy": "" }

  /** The rest of each limit, sent in headers only. */
  get left(): { readonly ratelimit: string; readonly "ratelimit-policy": string } {
    return this.#left
  }

  static readonly because = (limit: string, retryAfter: number, left: RoomRateLimited["left"]) => {
    const again = `try again in ${retryAfter} ${retryAfter === 1 ? "second" : "seconds"}`
    const message = `The limit of ${limit} is reached; ${again}.`
    const refusal = new RoomRateLimited({ error: { code: "RATE_LIMITED", message }, retryAfter, limit })
    refusal.#left = left
    return refusal
  }
}

export class RoomsFull extends Schema.Error<RoomsFull>("RoomsFull")(
  {
    ...error(
      "ROOMS_FULL",
      "This server has its maximum of rooms, so none was created. Existing rooms work as before.",
      "Try again after the time in Retry-After.",
    ),
    retryAfter: upTo(604_800).annotate({ description: "Seconds to wait, as in Retry-After." }),
  },
  at(503, "The server has its maximum of rooms; Retry-After says when to ask again."),
) {}

export class RoomInternal extends Schema.Error<RoomInternal>("RoomInternal")(
  error("INTERNAL", "The server failed.", "Send the same request again, with a clientId for a message."),
  at(500, "A fault of the server."),
) {}

export class RoomUnavailable extends Schema.Error<RoomUnavailable>("RoomUnavailable")(
  error(
    "UNAVAILABLE",
    "The server cannot answer now.",
    "Send the same request again after the time in Retry-After, with a clientId for a message.",
  ),
  at(503, "The server is starting or stopping, or its database does not answer; see Retry-After.", 2),
) {}

export type RoomRefusal =
  | RoomBadRequest
  | RoomUnauthorized
  | RoomForbidden
  | RoomNotFound
  | RoomMethodNotAllowed
  | RoomConflict
  | RoomExpired
  | RoomTooLarge
  | RoomRateLimited
  | RoomInternal
  | RoomsFull
  | RoomUnavailable
