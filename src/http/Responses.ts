/** Reads JSON bodies strictly and writes refusals in the format of their service. */
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import { BadRequest, TooLarge, UnsupportedMediaType } from "../../schema/Errors.ts"
import { type Refusal, statusOf, waitOf } from "../../schema/Refusal.ts"
import * as Body from "./Body.ts"
import { type ResponseOptions, cachedResponse } from "./CachedResponse.ts"

/** A refusal as JSON. Spreading an error omits its message, so the message is named. */
export const refusalOf = (refusal: Refusal) =>
  Object.assign({ ok: false, code: refusal.code, message: refusal.message }, refusal)

/** A refusal as a response, with the status and the wait that its class declares. */
export const refuse = (refusal: Refusal, headers: Record<string, string> = {}) => {
  const wait = waitOf(refusal)
  return HttpServerResponse.jsonUnsafe(refusalOf(refusal), {
    status: statusOf(refusal),
    headers: {
      "cache-control": "no-store",
      ...(wait === undefined ? {} : { "retry-after": String(wait) }),
      ...headers,
    },
  })
}

export const jsonText = (text: string, status = 200, headers: Record<string, string> = {}) =>
  HttpServerResponse.text(text, { status, contentType: "application/json", headers })

/** Reads bodies of all services but the rooms. */
export const body = Body.reader<BadRequest | TooLarge | UnsupportedMediaType>({
  tooLarge: () => new TooLarge({}),
  unsupported: () => new UnsupportedMediaType({}),
  malformed: (issues) => new BadRequest({ issues }),
})

/** A response that clients may store and must revalidate: 304 if the client has the same bytes. */
export const fresh = (
  request: HttpServerRequest.HttpServerRequest,
  text: string,
  how: Omit<ResponseOptions, "effort"> = {},
) => cachedResponse(text, { ...how, effort: "once" }).respond(request)
