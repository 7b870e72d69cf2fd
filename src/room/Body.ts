/** A body of at most 4096 bytes, counted as they arrive, in the documented form or refused. */
import { ByteSize, Effect, Result, Schema } from "effect"
import { HttpIncomingMessage, type HttpServerRequest } from "effect/http"
import { RoomBadRequest, RoomTooLarge } from "../../schema/room/Errors.ts"
import { issuesOf } from "../platform/Issues.ts"

const limit = 4096

const utf8 = new TextDecoder("utf-8", { fatal: true })

const textOf = (bytes: ArrayBuffer): Result.Result<string, RoomBadRequest> =>
  Result.try({
    try: () => utf8.decode(bytes),
    catch: () => RoomBadRequest.because("The body is not UTF-8."),
  })

const isJson = (contentType: string | undefined) => /^application\/json\s*(?:;|$)/iu.test(contentType ?? "")

/** What is announced as too long is not read at all. */
const isAnnouncedTooLarge = (request: HttpServerRequest.HttpServerRequest) =>
  Number(request.headers["content-length"] ?? 0) > limit

const readText = Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest) {
  if (isAnnouncedTooLarge(request)) return yield* new RoomTooLarge({})
  const bytes = yield* request.arrayBuffer.pipe(
    Effect.provideService(HttpIncomingMessage.MaxBodySize, ByteSize.bytes(limit)),
    Effect.mapError((error) =>
      error.reason._tag === "RequestParseError" && error.reason.reason === "BodyTooLarge"
        ? new RoomTooLarge({})
        : RoomBadRequest.because("The body could not be read."),
    ),
  )
  if (bytes.byteLength > 0 && !isJson(request.headers["content-type"])) {
    return yield* RoomBadRequest.because("Send the body as Content-Type: application/json.")
  }
  return yield* Effect.fromResult(textOf(bytes))
})

/** What is wrong, as one sentence. */
export const refusalOf = (error: Schema.SchemaError) =>
  RoomBadRequest.because(
    issuesOf(error)
      .slice(0, 3)
      .map(({ message, path }) => (path === "" ? message : `${path}: ${message}`))
      .join("; "),
  )

const strict = { onExcessProperty: "error", errors: "all" } as const

/** Reads a body as `schema`; an empty one counts as `empty`, where there is such. */
export const bodyAs = <A, I>(schema: Schema.Codec<A, I>, empty?: string) => {
  const decode = Schema.decodeUnknownEffect(Schema.fromJsonString(Schema.Unknown))
  const decodeForm = Schema.decodeUnknownEffect(schema, strict)
  return Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest) {
    const text = yield* readText(request)
    const json = yield* Effect.mapError(decode(text === "" && empty !== undefined ? empty : text), () =>
      RoomBadRequest.because("The body is not valid JSON."),
    )
    return yield* Effect.mapError(decodeForm(json), refusalOf)
  })
}
