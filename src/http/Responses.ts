/** Bodies on the way in and out: JSON read strictly, refusals written in the shape of their service. */
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import { BadRequest, TooLarge, UnsupportedMediaType } from "../../schema/Errors.ts"
import * as Body from "./Body.ts"
import { type How, written } from "./Written.ts"

interface Refusal {
  readonly code: string
  readonly message: string
}

/** A refusal as JSON. An error keeps its message out of a spread, so it is named. */
export const refusalOf = (refusal: Refusal) =>
  Object.assign({ ok: false, code: refusal.code, message: refusal.message }, refusal)

/** A refusal as a response, for the places where no endpoint declares it. */
export const refuse = (status: number, refusal: Refusal, headers: Record<string, string> = {}) =>
  HttpServerResponse.jsonUnsafe(refusalOf(refusal), { status, headers: { "cache-control": "no-store", ...headers } })

/** JSON text that is already written. */
export const jsonText = (text: string, status = 200, headers: Record<string, string> = {}) =>
  HttpServerResponse.text(text, { status, contentType: "application/json", headers })

/** How all but the rooms read a body. */
export const body = Body.reader<BadRequest | TooLarge | UnsupportedMediaType>({
  tooLarge: () => new TooLarge({}),
  unsupported: () => new UnsupportedMediaType({}),
  malformed: (issues) => new BadRequest({ issues }),
})

/** A read that may be kept as long as it is asked again: 304 when the reader has these very bytes. */
export const fresh = (request: HttpServerRequest.HttpServerRequest, text: string, how: Omit<How, "effort"> = {}) =>
  written(text, { ...how, effort: "once" }).respond(request)
