/** Compresses what is answered once, where that is worth it. */
import { Effect } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import { compressed, encodingFor, leastBytes } from "./Encoding.ts"

const isText = (contentType: string | undefined) => contentType !== undefined && /^text\/|[/+]json\b/u.test(contentType)

/** What has a tag names its own bytes, and was encoded as it was tagged. */
const isAsItIs = ({ headers }: HttpServerResponse.HttpServerResponse) =>
  headers["etag"] !== undefined || headers["content-encoding"] !== undefined

const varied = (vary: string | undefined) => (vary === undefined ? "accept-encoding" : `${vary}, accept-encoding`)

/** The same answer in fewer bytes, when the client takes them and it is longer than a packet. */
export const pressed = (
  request: HttpServerRequest.HttpServerRequest,
  response: HttpServerResponse.HttpServerResponse,
): Effect.Effect<HttpServerResponse.HttpServerResponse> => {
  const { body } = response
  if (body._tag !== "Uint8Array" || body.contentLength < leastBytes || isAsItIs(response))
    return Effect.succeed(response)
  if (!isText(body.contentType)) return Effect.succeed(response)
  const vary = varied(response.headers["vary"])
  const encoding = encodingFor(request.headers["accept-encoding"])
  if (encoding === "identity") return Effect.succeed(HttpServerResponse.setHeader(response, "vary", vary))
  return Effect.map(compressed(body.body, encoding, "once"), (content) =>
    HttpServerResponse.uint8Array(content, {
      status: response.status,
      contentType: body.contentType,
      headers: {
        ...response.headers,
        "content-length": String(content.byteLength),
        "content-encoding": encoding,
        vary,
      },
      cookies: response.cookies,
    }),
  )
}
