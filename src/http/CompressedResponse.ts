/** Compresses responses that are sent only once. */
import { Effect } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import { encodingFor } from "./Accept.ts"
import { compressed, minimumBytes } from "./Encoding.ts"

const isText = (contentType: string | undefined) => contentType !== undefined && /^text\/|[/+]json\b/u.test(contentType)

/** A response with a tag, or one that varies by encoding, was encoded where it was created. */
const isEncoded = ({ headers }: HttpServerResponse.HttpServerResponse) =>
  headers["etag"] !== undefined ||
  headers["content-encoding"] !== undefined ||
  headers["vary"]?.includes("accept-encoding") === true

/** The same response compressed, if the client accepts it and it is longer than a packet. */
export const compressedResponse = (
  request: HttpServerRequest.HttpServerRequest,
  response: HttpServerResponse.HttpServerResponse,
): Effect.Effect<HttpServerResponse.HttpServerResponse> => {
  const { body, cookies, headers, status } = response
  if (body._tag !== "Uint8Array" || body.contentLength < minimumBytes) return Effect.succeed(response)
  if (isEncoded(response) || !isText(body.contentType)) return Effect.succeed(response)
  const encoding = encodingFor(request.headers["accept-encoding"])
  const vary = headers["vary"] === undefined ? "accept-encoding" : `${headers["vary"]}, accept-encoding`
  if (encoding === "identity") return Effect.succeed(HttpServerResponse.setHeader(response, "vary", vary))
  return Effect.map(compressed(body.body, encoding, "once"), (content) =>
    HttpServerResponse.uint8Array(content, {
      status,
      contentType: body.contentType,
      headers: {
        ...headers,
        "content-length": String(content.byteLength),
        "content-encoding": encoding,
        vary,
      },
      cookies,
    }),
  )
}
