/** Bodies on the way in and out: JSON read strictly, refusals written in the shape of their service. */
import { Effect, Result, Schema } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import { BadRequest, TooLarge, UnsupportedMediaType } from "../../schema/Errors.ts"
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

const utf8 = new TextDecoder("utf-8", { fatal: true })
const decodeUtf8 = (bytes: ArrayBuffer): Result.Result<string, BadRequest> =>
  Result.try({
    try: () => utf8.decode(bytes),
    catch: () => new BadRequest({ issues: [{ path: "", message: "Expected a body in UTF-8" }] }),
  })

const isJson = (contentType: string | undefined) =>
  contentType === undefined || /^application\/json\s*(?:;|$)/iu.test(contentType)

/** The body as text, read once within its limit; empty when there is none. */
export const readBody = Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest) {
  const { "content-length": length, "transfer-encoding": encoding } = request.headers
  if (encoding === undefined && (length === undefined || length === "0")) return ""
  const bytes = yield* request.arrayBuffer.pipe(
    Effect.mapError((error) =>
      error.reason._tag === "RequestParseError" && error.reason.reason === "BodyTooLarge"
        ? new TooLarge({})
        : new BadRequest({ issues: [{ path: "", message: "The body could not be read" }] }),
    ),
  )
  if (bytes.byteLength > 0 && !isJson(request.headers["content-type"])) return yield* new UnsupportedMediaType({})
  return yield* Effect.fromResult(decodeUtf8(bytes))
})

const parse = Schema.decodeUnknownEffect(Schema.fromJsonString(Schema.Json))

/** The body as JSON of a given form; anything else is a `bad_request` that says where. */
export const readJson = Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest) {
  const text = yield* readBody(request)
  return yield* Effect.mapError(
    parse(text),
    () => new BadRequest({ issues: [{ path: "", message: "Expected a valid JSON body" }] }),
  )
})

/** A read that may be kept as long as it is asked again: 304 when the reader has these very bytes. */
export const fresh = (request: HttpServerRequest.HttpServerRequest, text: string, how: Omit<How, "effort"> = {}) =>
  written(text, { ...how, effort: "once" }).respond(request)
