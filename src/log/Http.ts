/** Serves the log as files (C2SP tlog-tiles). A file below a path never changes, so it may be cached for ever. */
import { Cache, Duration, Effect, Exit, Layer } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { Malformed } from "../../schema/log/Bytes.ts"
import { parsePath } from "../../schema/log/Tile.ts"
import { cachedResponse } from "../http/CachedResponse.ts"
import { PublishedLog } from "./PublishedLog.ts"

/** The log's path below the public URL. */
export const prefix = "/log/"

const forAnyOrigin = { "access-control-allow-origin": "*" }

/** Bytes that never change: all files except the checkpoint. */
const octets = {
  contentType: "application/octet-stream",
  headers: { ...forAnyOrigin, "cache-control": "public, max-age=31536000, immutable" },
}

const notThere = HttpServerResponse.empty({ status: 404, headers: { "cache-control": "no-store" } })

/** A modified file is withheld. The alarm was raised where the change was found. */
const withheld = HttpServerResponse.text("This part of the log does not hold, and is not shown.\n", {
  status: 500,
  contentType: "text/plain; charset=utf-8",
  headers: { "cache-control": "no-store" },
})

/** Maximum number of cached bundles, each with its compressed variants at most 250 KB. */
const mostBundles = 160

/** Bundles are verified against the stones and compressed once in this time, not per request. */
export const layerWith = (fresh: Duration.Duration) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const log = yield* PublishedLog
      const bundles = yield* Cache.makeWith(
        Effect.fnUntraced(function* (place: Parameters<typeof log.bundle>[0]) {
          return cachedResponse(yield* log.bundle(place), octets)
        }),
        { capacity: mostBundles, timeToLive: (exit) => (Exit.isSuccess(exit) ? fresh : Duration.zero) },
      )

      /** The file at a path below the prefix. Any other spelling is not found. */
      const find = Effect.fnUntraced(function* (path: string) {
        if (path === "checkpoint") {
          const { note } = yield* log.checkpoint
          return cachedResponse(note, {
            contentType: "text/plain; charset=utf-8",
            headers: forAnyOrigin,
            isCompressible: false,
          })
        }
        const resource = parsePath(path)
        if (resource instanceof Malformed) return undefined
        if (resource.kind === "entries") return yield* Cache.get(bundles, resource)
        return cachedResponse(yield* log.tile(resource), { ...octets, isCompressible: false })
      })

      return HttpRouter.add("GET", `${prefix}*`, (request) =>
        find(request.url.slice(prefix.length)).pipe(
          Effect.flatMap((file) => file?.respond(request) ?? Effect.succeed(notThere)),
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
