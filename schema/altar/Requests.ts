/** What every endpoint of the altar shares: how undecodable requests are refused, and how an operation is described. */
import { Context, Schema } from "effect"
import { HttpApiMiddleware, HttpApiSchema, OpenApi } from "effect/http-api"
import { waitSeconds } from "../Bounds.ts"
import { Uuid } from "../Common.ts"
import {
  BadRequest,
  Internal,
  NotAcceptable,
  NotFound,
  NotNow,
  RateLimited,
  TooLarge,
  UnsupportedMediaType,
} from "../Errors.ts"

/** 429 with the true wait, in the body and as a header. */
const Limited = RateLimited.pipe(
  HttpApiSchema.encodeToWithHeaders(
    {
      body: RateLimited,
      headers: { "retry-after": waitSeconds("7") },
    },
    {
      decode: ({ body }) => body,
      encode: (error) => ({ body: error, headers: { "retry-after": String(error.retryAfter) } }),
    },
  ),
)

/** Turns every undecodable request into a declared refusal; its layer is in the server. */
export class AltarRequests extends HttpApiMiddleware.Service<AltarRequests>()(
  "spirit-altar/schema/altar/AltarRequests",
  {
    error: [BadRequest, TooLarge, UnsupportedMediaType, NotAcceptable, Limited, Internal, NotNow],
  },
) {}

/** The refusal of a path parameter that names nothing: which 404 an endpoint answers. */
export const Unknown = Context.Reference<() => { readonly code: string; readonly message: string }>(
  "spirit-altar/schema/altar/Unknown",
  { defaultValue: () => () => new NotFound({}) },
)

/** The `before` query of lists that are paged by id. */
export const pageBefore = Schema.optionalKey(Uuid).annotateKey({ description: "The `next` of the page before." })

/** The chapter of the document in which all free reads stand, whatever they are of. */
export const readsChapter = OpenApi.annotations({
  title: "Reads",
  description: "Everything that may be read for nothing.",
})

/** Summary and description of an operation, whose id is the endpoint's own name. */
export const described = (summary: string, description: string) => OpenApi.annotations({ summary, description })
