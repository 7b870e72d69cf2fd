/** The log as files (C2SP tlog-tiles): what is below a path never changes, so anybody may keep it for ever. */
import { hash } from "node:crypto"
import { gzipSync } from "node:zlib"
import { Effect, Layer } from "effect"
import { HttpRouter, type HttpServerRequest, HttpServerResponse } from "effect/http"
import { Malformed, utf8 } from "../../schema/log/Bytes.ts"
import { parsePath } from "../../schema/log/Tile.ts"
import { PublishedLog } from "./PublishedLog.ts"

/** Where the log is, below the public URL. */
export const prefix = "/log/"

const forever = "public, max-age=31536000, immutable"

interface File {
  readonly bytes: Uint8Array
  readonly contentType: string
  readonly cacheControl: string
  /** Text that compresses; hashes do not. */
  readonly isText: boolean
}

const accepts = (header: string | undefined, encoding: string) =>
  (header ?? "").split(",").some((one) => {
    const [name = "", quality = ""] = one.split(";")
    return name.trim().toLowerCase() === encoding && !/q=0(?:\.0*)?$/u.test(quality.trim())
  })

const isNamed = (header: string | undefined, tag: string) =>
  header !== undefined && header.split(",").some((one) => [tag, `W/${tag}`, "*"].includes(one.trim()))

const answer = (request: HttpServerRequest.HttpServerRequest, file: File) => {
  const isZipped = file.isText && accepts(request.headers["accept-encoding"], "gzip")
  // Its two encodings are two sequences of bytes, and a strong tag names one.
  const etag = `"${hash("sha256", file.bytes, "base64url").slice(0, 22)}${isZipped ? "-gzip" : ""}"`
  const headers = {
    etag,
    "cache-control": file.cacheControl,
    "access-control-allow-origin": "*",
    ...(file.isText ? { vary: "accept-encoding" } : {}),
  }
  if (isNamed(request.headers["if-none-match"], etag)) return HttpServerResponse.empty({ status: 304, headers })
  return HttpServerResponse.uint8Array(isZipped ? gzipSync(file.bytes) : file.bytes, {
    contentType: file.contentType,
    headers: isZipped ? { ...headers, "content-encoding": "gzip" } : headers,
  })
}

const octets = "application/octet-stream"

/** The file of a path below the prefix; a path that is spelled otherwise names none. */
const fileOf = Effect.fnUntraced(function* (log: PublishedLog["Service"], path: string) {
  if (path === "checkpoint") {
    const { note } = yield* log.checkpoint
    const file: File = {
      bytes: utf8(note),
      contentType: "text/plain; charset=utf-8",
      cacheControl: "no-cache",
      isText: false,
    }
    return file
  }
  const resource = parsePath(path)
  if (resource instanceof Malformed) return undefined
  const isText = resource.kind === "entries"
  const bytes = yield* resource.kind === "entries" ? log.bundle(resource) : log.tile(resource)
  const file: File = { bytes, contentType: octets, cacheControl: forever, isText }
  return file
})

const notThere = HttpServerResponse.empty({ status: 404, headers: { "cache-control": "no-store" } })

/** What was changed is not shown; the alarm has rung where it was found. */
const withheld = HttpServerResponse.text("This part of the log does not hold, and is not shown.\n", {
  status: 500,
  contentType: "text/plain; charset=utf-8",
  headers: { "cache-control": "no-store" },
})

export const layer = Layer.unwrap(
  Effect.map(PublishedLog, (log) =>
    HttpRouter.add("GET", `${prefix}*`, (request) =>
      fileOf(log, request.url.slice(prefix.length)).pipe(
        Effect.map((file) => (file === undefined ? notThere : answer(request, file))),
        Effect.catchTags({
          NotPublished: () => Effect.succeed(notThere),
          LogStopped: () => Effect.succeed(withheld),
          ChainBroken: () => Effect.succeed(withheld),
        }),
      ),
    ),
  ),
)
