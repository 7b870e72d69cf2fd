/** Reads request bodies within their limit, type and schema, and rejects others with the service's errors. */
import { ByteSize, Effect, Result, Schema } from "effect"
import { HttpIncomingMessage, type HttpServerRequest } from "effect/http"
import type { Issue } from "../../schema/Errors.ts"
import { issuesOf } from "../platform/Issues.ts"

type Request = HttpServerRequest.HttpServerRequest

interface Service<E> {
  /** Maximum size in bytes, if lower than the server's own. */
  readonly limit?: number
  /** Whether a body must declare the type JSON. */
  readonly isTypeRequired?: boolean
  readonly tooLarge: () => E
  readonly unsupported: () => E
  readonly malformed: (issues: ReadonlyArray<Issue>) => E
}

const utf8 = new TextDecoder("utf-8", { fatal: true })

const isJson = (contentType: string) => /^application\/json\s*(?:;|$)/iu.test(contentType)

const parse = Schema.decodeUnknownEffect(Schema.fromJsonString(Schema.Json))

export const reader = <E>({ isTypeRequired = false, limit, malformed, tooLarge, unsupported }: Service<E>) => {
  const wrong = (message: string) => malformed([{ path: "", message }])

  const bytesOf = ({ arrayBuffer }: Request) =>
    limit === undefined
      ? arrayBuffer
      : Effect.provideService(arrayBuffer, HttpIncomingMessage.MaxBodySize, ByteSize.bytes(limit))

  /** Reads the body as text, empty if there is none. A declared length above the limit is rejected unread. */
  const text = (request: Request): Effect.Effect<string, E> => {
    const { "content-length": length, "content-type": type, "transfer-encoding": encoding } = request.headers
    if (encoding === undefined && (length === undefined || length === "0")) return Effect.succeed("")
    if (limit !== undefined && Number(length ?? 0) > limit) return Effect.fail(tooLarge())
    const read = Effect.mapError(bytesOf(request), ({ reason }) =>
      reason._tag === "RequestParseError" && reason.reason === "BodyTooLarge"
        ? tooLarge()
        : wrong("The body could not be read"),
    )
    return Effect.flatMap(read, (bytes) => {
      if (bytes.byteLength === 0) return Effect.succeed("")
      if (type === undefined ? isTypeRequired : !isJson(type)) return Effect.fail(unsupported())
      return Effect.fromResult(
        Result.try({ try: () => utf8.decode(bytes), catch: () => wrong("The body must be UTF-8") }),
      )
    })
  }

  /** Reads a body by a schema without excess members. An empty body reads as `empty`, if given. */
  const as = <A, I>(schema: Schema.Codec<A, I>, empty = "") => {
    const decode = Schema.decodeUnknownEffect(schema, { onExcessProperty: "error", errors: "all" })
    return Effect.fnUntraced(function* (request: Request) {
      const json = yield* Effect.mapError(parse((yield* text(request)) || empty), () =>
        wrong("The body must be valid JSON"),
      )
      return yield* Effect.mapError(decode(json), (error) => malformed(issuesOf(error)))
    })
  }

  return { text, as }
}
