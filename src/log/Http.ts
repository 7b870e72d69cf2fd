/** The log as files (C2SP tlog-tiles): what is below a path never changes, so anybody may keep it for ever. */
import { hash } from "node:crypto"
import { gzip } from "node:zlib"
import { Clock, Effect, Layer } from "effect"
import { HttpRouter, type HttpServerRequest, HttpServerResponse } from "effect/http"
import { Malformed, utf8 } from "../../schema/log/Bytes.ts"
import { parsePath } from "../../schema/log/Tile.ts"
import * as FileMemo from "./FileMemo.ts"
import { PublishedLog } from "./PublishedLog.ts"

/** Where the log is, below the public URL. */
export const prefix = "/log/"

const forever = "public, max-age=31536000, immutable"

interface File {
  readonly bytes: Uint8Array
  readonly contentType: string
  readonly cacheControl: string
  /** Names its bytes. */
  readonly tag: string
  /** Of text, which compresses; hashes do not. */
  readonly zipped?: Uint8Array
}

const tagOf = (bytes: Uint8Array) => hash("sha256", bytes, "base64url").slice(0, 22)

const accepts = (header: string | undefined, encoding: string) =>
  (header ?? "").split(",").some((one) => {
    const [name = "", quality = ""] = one.split(";")
    return name.trim().toLowerCase() === encoding && !/q=0(?:\.0*)?$/u.test(quality.trim())
  })

const isNamed = (header: string | undefined, tag: string) =>
  header !== undefined && header.split(",").some((one) => [tag, `W/${tag}`, "*"].includes(one.trim()))

const answer = (request: HttpServerRequest.HttpServerRequest, file: File) => {
  const isZipped = file.zipped !== undefined && accepts(request.headers["accept-encoding"], "gzip")
  // Its two encodings are two sequences of bytes, and a strong tag names one.
  const etag = `"${file.tag}${isZipped ? "-gzip" : ""}"`
  const headers = {
    etag,
    "cache-control": file.cacheControl,
    "access-control-allow-origin": "*",
    ...(file.zipped !== undefined ? { vary: "accept-encoding" } : {}),
  }
  if (isNamed(request.headers["if-none-match"], etag)) return HttpServerResponse.empty({ status: 304, headers })
  return HttpServerResponse.uint8Array(isZipped ? file.zipped : file.bytes, {
    contentType: file.contentType,
    headers: isZipped ? { ...headers, "content-encoding": "gzip" } : headers,
  })
}

const octets = "application/octet-stream"

const zip = (bytes: Uint8Array) =>
  Effect.callback<Uint8Array>((resume) =>
    gzip(bytes, (error, zipped) => resume(error === null ? Effect.succeed(zipped) : Effect.die(error))),
  )

/** The file of a path below the prefix; a path that is spelled otherwise names none. */
const fileOf = Effect.fnUntraced(function* (
  log: PublishedLog["Service"],
  bundles: FileMemo.FileMemo<File>,
  path: string,
) {
  if (path === "checkpoint") {
    const bytes = utf8((yield* log.checkpoint).note)
    const file: File = { bytes, contentType: "text/plain; charset=utf-8", cacheControl: "no-cache", tag: tagOf(bytes) }
    return file
  }
  const resource = parsePath(path)
  if (resource instanceof Malformed) return undefined
  if (resource.kind === "tile") {
    const bytes = yield* log.tile(resource)
    const file: File = { bytes, contentType: octets, cacheControl: forever, tag: tagOf(bytes) }
    return file
  }
  const now = yield* Clock.currentTimeMillis
  const known = bundles.get(path, now)
  if (known !== undefined) return known
  const bytes = yield* log.bundle(resource)
  const zipped = yield* zip(bytes)
  const file: File = { bytes, contentType: octets, cacheControl: forever, tag: tagOf(bytes), zipped }
  bundles.set(path, file, bytes.length + zipped.length, now)
  return file
})

const notThere = HttpServerResponse.empty({ status: 404, headers: { "cache-control": "no-store" } })

/** What was changed is not shown; the alarm has rung where it was found. */
const withheld = HttpServerResponse.text("This part of the log does not hold, and is not shown.\n", {
  status: 500,
  contentType: "text/plain; charset=utf-8",
  headers: { "cache-control": "no-store" },
})

/** Bundles are checked against the stones and zipped once in a while, and not for each of their readers. */
const memo = { mostBytes: 32 * 1_048_576, freshMs: 60_000 }

export const layerWith = (bounds: FileMemo.Bounds) =>
  Layer.unwrap(
    Effect.map(PublishedLog, (log) => {
      const bundles = FileMemo.make<File>(bounds)
      return HttpRouter.add("GET", `${prefix}*`, (request) =>
        fileOf(log, bundles, request.url.slice(prefix.length)).pipe(
          Effect.map((file) => (file === undefined ? notThere : answer(request, file))),
          Effect.catchTags({
            NotPublished: () => Effect.succeed(notThere),
            LogStopped: () => Effect.succeed(withheld),
            ChainBroken: () => Effect.succeed(withheld),
          }),
        ),
      )
    }),
  )

export const layer = layerWith(memo)
