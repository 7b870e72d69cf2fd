/** Compresses what is answered once, where that is worth it. */
import { Effect } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import { compressed, type Effort, type Encoding, encodingFor, leastBytes } from "./Encoding.ts"

const isText = (contentType: string | undefined) => contentType !== undefined && /^text\/|[/+]json\b/u.test(contentType)

/** What has a tag names its own bytes, and was encoded as it was tagged. */
const isAsItIs = ({ headers }: HttpServerResponse.HttpServerResponse) =>
  headers["etag"] !== undefined || headers["content-encoding"] !== undefined

const varied = (vary: string | undefined) => (vary === undefined ? "accept-encoding" : `${vary}, accept-encoding`)

const isPlain = (response: HttpServerResponse.HttpServerResponse) => {
  const { body } = response
  return (
    body._tag === "Uint8Array" && body.contentLength >= leastBytes && !isAsItIs(response) && isText(body.contentType)
  )
}

type Form = Effect.Effect<HttpServerResponse.HttpServerResponse>

const formOf = (response: HttpServerResponse.HttpServerResponse, encoding: Encoding, effort: Effort): Form => {
  const { body } = response
  if (body._tag !== "Uint8Array") return Effect.succeed(response)
  const vary = varied(response.headers["vary"])
  if (encoding === "identity") return Effect.succeed(HttpServerResponse.setHeader(response, "vary", vary))
  return Effect.map(compressed(body.body, encoding, effort), (content) =>
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

/** The forms of answers that are sent again and again, as long as somebody keeps the answer. */
const forms = new WeakMap<HttpServerResponse.HttpServerResponse, Map<Encoding, Form>>()

/** As `pressed`, for an answer that is kept: each form is made once. */
export const pressedOnce = (
  request: HttpServerRequest.HttpServerRequest,
  response: HttpServerResponse.HttpServerResponse,
): Form => {
  if (!isPlain(response)) return Effect.succeed(response)
  const encoding = encodingFor(request.headers["accept-encoding"])
  const known = forms.get(response) ?? new Map<Encoding, Form>()
  forms.set(response, known)
  const before = known.get(encoding)
  if (before !== undefined) return before
  const made = Effect.tap(formOf(response, encoding, "kept"), (one) =>
    Effect.sync(() => void known.set(encoding, Effect.succeed(one))),
  )
  known.set(encoding, made)
  return made
}

/** The same answer in fewer bytes, when the client takes them and it is longer than a packet. */
export const pressed = (
  request: HttpServerRequest.HttpServerRequest,
  response: HttpServerResponse.HttpServerResponse,
): Form =>
  isPlain(response)
    ? formOf(response, encodingFor(request.headers["accept-encoding"]), "once")
    : Effect.succeed(response)
