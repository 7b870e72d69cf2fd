/** The log as files (C2SP tlog-tiles): what is below a path never changes, so anybody may keep it for ever. */
import { Cache, Duration, Effect, Exit, Layer } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { Malformed } from "../../schema/log/Bytes.ts"
import { parsePath } from "../../schema/log/Tile.ts"
import { written } from "../http/Written.ts"
import { PublishedLog } from "./PublishedLog.ts"

/** Where the log is, below the public URL. */
export const prefix = "/log/"

const forAnyOrigin = { "access-control-allow-origin": "*" }

/** Bytes that never change, as everything but the checkpoint. */
const octets = {
  contentType: "application/octet-stream",
  headers: { ...forAnyOrigin, "cache-control": "public, max-age=31536000, immutable" },
}

const notThere = HttpServerResponse.empty({ status: 404, headers: { "cache-control": "no-store" } })

/** What was changed is not shown; the alarm has rung where it was found. */
const withheld = HttpServerResponse.text("This part of the log does not hold, and is not shown.\n", {
  status: 500,
  contentType: "text/plain; charset=utf-8",
  headers: { "cache-control": "no-store" },
})

/** Bundles kept; with its compressed forms each takes some 250 KB at most. */
const mostBundles = 160

/** Bundles are checked against the stones and zipped once in so long, and not for each of their readers. */
export const layerWith = (fresh: Duration.Duration) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const log = yield* PublishedLog
      const bundles = yield* Cache.makeWith(
        Effect.fnUntraced(function* (place: Parameters<typeof log.bundle>[0]) {
          return written(yield* log.bundle(place), octets)
        }),
        { capacity: mostBundles, timeToLive: (exit) => (Exit.isSuccess(exit) ? fresh : Duration.zero) },
      )

      /** The file of a path below the prefix; a path that is spelled otherwise names none. */
      const find = Effect.fnUntraced(function* (path: string) {
        if (path === "checkpoint") {
          const { note } = yield* log.checkpoint
          return written(note, {
            contentType: "text/plain; charset=utf-8",
            headers: forAnyOrigin,
            isCompressible: false,
          })
        }
        const resource = parsePath(path)
        if (resource instanceof Malformed) return undefined
        if (resource.kind === "entries") return yield* Cache.get(bundles, resource)
        return written(yield* log.tile(resource), { ...octets, isCompressible: false })
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
