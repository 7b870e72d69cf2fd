/** The log as files (C2SP tlog-tiles): what is below a path never changes, so anybody may keep it for ever. */
import { hash } from "node:crypto"
import { gzip } from "node:zlib"
import { Cache, Duration, Effect, Exit, Layer } from "effect"
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

const fileOf = (bytes: Uint8Array, zipped?: Uint8Array): File => ({
  bytes,
  contentType: octets,
  cacheControl: forever,
  tag: tagOf(bytes),
  ...(zipped === undefined ? {} : { zipped }),
})

const notThere = HttpServerResponse.empty({ status: 404, headers: { "cache-control": "no-store" } })

/** What was changed is not shown; the alarm has rung where it was found. */
const withheld = HttpServerResponse.text("This part of the log does not hold, and is not shown.\n", {
  status: 500,
  contentType: "text/plain; charset=utf-8",
  headers: { "cache-control": "no-store" },
})

/** Bundles kept; with its compressed form each takes some 200 KB at most. */
const mostBundles = 160

/** Bundles are checked against the stones and zipped once in so long, and not for each of their readers. */
export const layerWith = (fresh: Duration.Duration) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const log = yield* PublishedLog
      const bundles = yield* Cache.makeWith(
        Effect.fnUntraced(function* (place: Parameters<typeof log.bundle>[0]) {
          const bytes = yield* log.bundle(place)
          return fileOf(bytes, yield* zip(bytes))
        }),
        { capacity: mostBundles, timeToLive: (exit) => (Exit.isSuccess(exit) ? fresh : Duration.zero) },
      )

      /** The file of a path below the prefix; a path that is spelled otherwise names none. */
      const find = Effect.fnUntraced(function* (path: string) {
        if (path === "checkpoint") {
          const bytes = utf8((yield* log.checkpoint).note)
          return { ...fileOf(bytes), contentType: "text/plain; charset=utf-8", cacheControl: "no-cache" }
        }
        const resource = parsePath(path)
        if (resource instanceof Malformed) return undefined
        return resource.kind === "tile" ? fileOf(yield* log.tile(resource)) : yield* Cache.get(bundles, resource)
      })

      return HttpRouter.add("GET", `${prefix}*`, (request) =>
        find(request.url.slice(prefix.length)).pipe(
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

export const layer = layerWith(Duration.minutes(1))
