/** Serves the log as files (C2SP tlog-tiles). A file below a path never changes, so it may be cached for ever. */
import { Cache, Duration, Effect, Exit, Layer } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { Malformed } from "../../schema/log/Bytes.ts"
import { parsePath } from "../../schema/log/Tile.ts"
import { cachedResponse } from "../http/CachedResponse.ts"
import { PublishedLog } from "./PublishedLog.ts"

/** The path of the log below the public URL. */
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

/** Partial tiles, and those of the upper levels. */
const moreTiles = 1024

/** Bundles of 256 entries in memory. With its compressed variants a bundle has at most 120 KB, and a tile 8 KB. */
const mostBundles = 160

/** The files of the log. */
export const layer = Layer.unwrap(
  Effect.gen(function* () {
    const log = yield* PublishedLog
    /**
     * Files that were proved by a signed checkpoint. No later checkpoint contradicts it, so they are served from memory
     * without a query. `Rereading` finds rows that changed since.
     */
    const proved = <Place, E>(
      bytesAt: (place: Place) => Effect.Effect<Uint8Array, E>,
      capacity: number,
      isCompressible: boolean,
    ) =>
      Cache.makeWith(
        (place: Place) => Effect.map(bytesAt(place), (bytes) => cachedResponse(bytes, { ...octets, isCompressible })),
        { capacity, timeToLive: (exit) => (Exit.isSuccess(exit) ? Duration.infinity : Duration.zero) },
      )
    const bundles = yield* proved(log.bundle, mostBundles, true)
    const tiles = yield* proved(log.tile, mostBundles + moreTiles, false)

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
      const file = parsePath(path)
      if (file instanceof Malformed) return undefined
      return yield* file.kind === "entries" ? Cache.get(bundles, file) : Cache.get(tiles, file)
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
