/** Reads JSON bodies strictly and writes refusals in the format of their service. */
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import { BadRequest, TooLarge, UnsupportedMediaType } from "../../schema/Errors.ts"
import * as Body from "./Body.ts"
import { type ResponseOptions, cachedResponse } from "./CachedResponse.ts"

interface Refusal {
  readonly code: string
  readonly message: string
}

/** A refusal as JSON. Spreading an error omits its message, so the message is named. */
export const refusalOf = (refusal: Refusal) =>
  Object.assign({ ok: false, code: refusal.code, message: refusal.message }, refusal)

/** A refusal as a response, for places where no endpoint declares it. */
export const refuse = (status: number, refusal: Refusal, headers: Record<string, string> = {}) =>
  HttpServerResponse.jsonUnsafe(refusalOf(refusal), { status, headers: { "cache-control": "no-store", ...headers } })

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
