/** Refusals that any request may meet. */
import { Schema } from "effect"
import { anyText, listOf, sentence, upTo } from "./Fields.ts"
import { at, envelope } from "./Refusal.ts"

export const Issue = Schema.Struct({
  path: sentence("commitment", 200, anyText).annotate({
    description: "The place, as a JSON pointer without the leading slash; empty for the whole.",
  }),
  message: sentence("Must be a string matching the RegExp ^[0-9a-f]{64}$", 300, anyText),
}).annotate({ identifier: "Issue", description: "One fault of a request." })
export type Issue = typeof Issue.Type

export class BadRequest extends Schema.Error<BadRequest>("BadRequest")(
  {
    ...envelope(
      "bad_request",
      "The request does not have the documented form.",
      "Correct what issues names and send it again.",
    ),
    issues: listOf(Issue, 20),
  },
  at(400, "The request does not have the documented form. This request charged and stored nothing."),
) {}

export class NotFound extends Schema.Error<NotFound>("NotFound")(
  envelope("not_found", "Nothing is at this path.", "Use a route that /openapi.json lists."),
  at(404, "No such route."),
) {}

export class MethodNotAllowed extends Schema.Error<MethodNotAllowed>("MethodNotAllowed")(
  envelope(
    "method_not_allowed",
    "This path does not support that method.",
    "Use a method that the Allow header lists.",
  ),
  at(405, "Method not allowed; see Allow."),
) {}

export class NotAcceptable extends Schema.Error<NotAcceptable>("NotAcceptable")(
  envelope(
    "not_acceptable",
    "The Accept header admits no form of this resource.",
    "Accept application/json or text/html.",
  ),
  at(406, "Not acceptable."),
) {}

export class TooLarge extends Schema.Error<TooLarge>("TooLarge")(
  envelope(
    "too_large",
    "The body or a header is larger than this route allows.",
    "Shorten it and send the request again.",
  ),
  at(413, "Body or header too large."),
) {}

export class UnsupportedMediaType extends Schema.Error<UnsupportedMediaType>("UnsupportedMediaType")(
  envelope("unsupported_media_type", "The body is not declared as JSON.", "Send it as Content-Type: application/json."),
  at(415, "The body is not JSON."),
) {}

export class RateLimited extends Schema.Error<RateLimited>("RateLimited")(
  {
    ...envelope("rate_limited", "Too many requests.", "Wait for the time in Retry-After and send the request again."),
    retryAfter: upTo(604_800).annotate({ description: "Seconds to wait." }),
  },
  at(429, "Too many requests."),
) {}

export class Internal extends Schema.Error<Internal>("Internal")(
  {
    ...envelope(
      "internal",
      "The server failed.",
      "If you sent a payment, do not sign another: repeat the same request with the same Idempotency-Key, or POST /api/reconcile/{key}. Otherwise try again in a minute.",
      "Without a payment nothing was charged.",
    ),
    requestId: sentence("3f0c2c1e-5b0a-4c1f-9d51-8a54f3a3f6a1").annotate({
      description: "Names the fault in our log.",
    }),
  },
  at(500, "A fault of the server."),
) {}

export class NotNow extends Schema.Error<NotNow>("NotNow")(
  envelope(
    "unavailable",
    "The server cannot answer now.",
    "Ask again after the time in Retry-After. If you sent a payment, do not sign another: repeat the same request with the same Idempotency-Key.",
    "Without a payment nothing was charged.",
  ),
  at(503, "The server is starting or stopping, or its database does not answer; see Retry-After.", 2),
) {}
