/** The shared parts of the altar's endpoints: refusals of undecodable requests, and descriptions of operations. */
import { Context, Schema } from "effect"
import { HttpApiMiddleware, HttpApiSchema, OpenApi } from "effect/http-api"
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
import { waiting, waits } from "../Refusal.ts"

/** 429 with the exact wait, in the body and as a header. */
const Limited = RateLimited.pipe(HttpApiSchema.encodeToWithHeaders({ body: RateLimited, headers: waits }, waiting()))

/** Turns every undecodable request into a declared refusal; the server provides the layer. */
export class AltarRequests extends HttpApiMiddleware.Service<AltarRequests>()(
  "spirit-altar/schema/altar/AltarRequests",
  {
    error: [BadRequest, TooLarge, UnsupportedMediaType, NotAcceptable, Limited, Internal, NotNow],
  },
) {}

/** The endpoint's 404 for a path parameter that names nothing. */
export const Unknown = Context.Reference<() => { readonly code: string; readonly message: string }>(
  "spirit-altar/schema/altar/Unknown",
  { defaultValue: () => () => new NotFound({}) },
)

/** The `before` query of lists that are paged by id. */
export const pageBefore = Schema.optionalKey(Uuid).annotateKey({ description: "The `next` of the previous page." })

/** The document's one chapter of free reads. */
export const readsChapter = OpenApi.annotations({
  title: "Reads",
  description: "The free reads.",
})

/** Summary and description of an operation; the endpoint's name is the operation id. */
export const described = (summary: string, description: string) => OpenApi.annotations({ summary, description })
