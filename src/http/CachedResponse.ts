/** A response that is encoded once and sent many times, with its compressed variants and a tag for each. */
import { hash } from "node:crypto"
import { promisify } from "node:util"
import { Effect } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import { brotliCompress, constants, gzip } from "node:zlib"
import { type Encoding, encodingFor } from "./Accept.ts"

/** Minimum bytes worth compressing. */
const minimumBytes = 1024

/** `kept` is compressed once and sent often; `once` is sent once. */
type Effort = "kept" | "once"

const gzipLevel: Record<Effort, number> = { kept: 6, once: 1 }
const brotliQuality: Record<Effort, number> = { kept: 5, once: 1 }

const [gzipped, brotlied] = [promisify(gzip), promisify(brotliCompress)]

/** Starts compression at once, off the event loop. All callers that await it get the same bytes. */
const compressed = (bytes: Uint8Array, encoding: "gzip" | "br", effort: Effort): Effect.Effect<Uint8Array> => {
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: brotliQuality[effort],
    [constants.BROTLI_PARAM_SIZE_HINT]: bytes.byteLength,
  }
  const done = encoding === "gzip" ? gzipped(bytes, { level: gzipLevel[effort] }) : brotlied(bytes, { params })
  return Effect.promise(() => done)
}

type Request = HttpServerRequest.HttpServerRequest
type Response = HttpServerResponse.HttpServerResponse

export interface CachedResponse {
  /** The response in the client's encoding; 304 if the client has the same bytes. */
  readonly respond: (request: Request) => Effect.Effect<Response>
}

export interface ResponseOptions {
  readonly contentType?: string
  /** The default is 200. Other statuses have no tag. */
  readonly status?: number
  /** Headers in addition to the tag and those of the encoding. */
  readonly headers?: Readonly<Record<string, string>>
  readonly effort?: Effort
  /** False for bytes that do not compress, such as hashes. */
  readonly isCompressible?: boolean
}

interface Form {
  readonly tag: string | undefined
  readonly unchanged: Response
  /** Compression starts with the first request for it. */
  response: Effect.Effect<Response> | undefined
}

/** Each encoding is a different sequence of bytes, and a strong tag names one (RFC 9110 §8.8.3.3). */
const marks: Readonly<Record<Encoding, string>> = { identity: "id", gzip: "gz", br: "br" }

/** Whether `If-None-Match` names the tag (RFC 9110 §13.1.2: weak comparison). */
const names = (header: string, tag: string) =>
  header.split(",").some((candidate) => [tag, `W/${tag}`, "*"].includes(candidate.trim()))

/** A strong tag: 120 bits of the content's SHA-256, and the encoding. */
const tagOf = (content: string | Uint8Array, encoding: Encoding) =>
  `"${hash("sha256", content, "base64url").slice(0, 20)}${marks[encoding]}"`

const utf8 = new TextEncoder()

export const cachedResponse = (whole: string | Uint8Array, how: ResponseOptions = {}): CachedResponse => {
  const { contentType = "application/json", effort = "kept", headers = {}, isCompressible = true, status = 200 } = how
  const bytes = typeof whole === "string" ? utf8.encode(whole) : whole
  const isPlain = !isCompressible || bytes.byteLength < minimumBytes
  const vary = ["vary" in headers ? headers["vary"] : undefined, isPlain ? undefined : "accept-encoding"]
    .filter((name) => name !== undefined)
    .join(", ")

  const headersOf = (tag: string | undefined, encoding: Encoding) => ({
    "cache-control": "no-cache",
    ...headers,
    ...(tag === undefined ? {} : { etag: tag }),
    ...(vary === "" ? {} : { vary }),
    ...(encoding === "identity" ? {} : { "content-encoding": encoding }),
  })

  const responseOf = (encoding: Encoding, tag: string | undefined, content: Uint8Array) =>
    HttpServerResponse.uint8Array(content, { status, contentType, headers: headersOf(tag, encoding) })

  const forms = new Map<Encoding, Form>()
  const formOf = (encoding: Encoding) => {
    const cachedForm = forms.get(encoding)
    if (cachedForm !== undefined) return cachedForm
    const tag = status === 200 ? tagOf(whole, encoding) : undefined
    const unchanged = HttpServerResponse.empty({ status: 304, headers: headersOf(tag, "identity") })
    const form: Form = { tag, unchanged, response: undefined }
    forms.set(encoding, form)
    return form
  }

  const begun = (form: Form, encoding: Encoding) => {
    if (encoding === "identity") return Effect.succeed(responseOf(encoding, form.tag, bytes))
    return Effect.map(compressed(bytes, encoding, effort), (content) => {
      const response = responseOf(encoding, form.tag, content)
      form.response = Effect.succeed(response)
      return response
    })
  }

  return {
    respond: (request) => {
      const encoding = isPlain ? "identity" : encodingFor(request.headers["accept-encoding"])
      const form = formOf(encoding)
      const have = request.headers["if-none-match"]
      if (have !== undefined && form.tag !== undefined && names(have, form.tag)) return Effect.succeed(form.unchanged)
      return (form.response ??= begun(form, encoding))
    },
  }
}

/** Encodes once per object. A read returns the same object as long as nothing has changed. */
export const cachedByValue = <Value extends object>(write: (value: Value) => Effect.Effect<CachedResponse>) => {
  const responses = new WeakMap<Value, CachedResponse>()
  return (request: Request, value: Value): Effect.Effect<Response> => {
    const before = responses.get(value)
    if (before !== undefined) return before.respond(request)
    return Effect.flatMap(write(value), (now) => {
      responses.set(value, now)
      return now.respond(request)
    })
  }
}
