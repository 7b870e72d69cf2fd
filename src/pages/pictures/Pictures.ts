/** Pictures of acts: each is drawn once and one at a time, with a quarter of a core at most, since strangers ask. */
import { Worker } from "node:worker_threads"
import { Cache, type Cause, Clock, Duration, Effect, Exit, Option, RcRef, Semaphore } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { ActNotFound } from "../../../schema/payments/Act.ts"
import { Acts } from "../../altar/Acts.ts"
import { type CachedResponse, cachedResponse } from "../../http/CachedResponse.ts"
import { refuse } from "../../http/Responses.ts"
import { assetPath } from "../../platform/Assets.ts"
import { packageRoot } from "../../platform/PackageRoot.ts"
import { isUuid } from "../Pages.ts"
import { actReader } from "../templates/ActList.ts"
import { pictureOf, previewOf } from "./Card.ts"

/** Pictures that wait for their turn; with more, requests get the fixed picture of the kind. */
const mostWaiting = 8

/** A year, the maximum lifetime in caches: another content has another address. */
const headers = { "cache-control": "public, max-age=31536000, immutable" }

const thread = Effect.acquireRelease(
  Effect.sync(() => {
    const workerData = new URL(`dist/web${assetPath("/type/vollkorn-roman.woff2")}`, packageRoot).href
    return new Worker(new URL("dist/server/picture.js", packageRoot), { workerData, execArgv: [] })
  }),
  (worker) => Effect.promise(() => worker.terminate()),
)

const drawnBy = (worker: Worker, picture: string) =>
  Effect.callback<Uint8Array>((resume) => {
    worker.removeAllListeners()
    worker.once("message", (png) => resume(Effect.succeed(png)))
    worker.once("error", (error) => resume(Effect.die(error)))
    worker.postMessage(picture, [])
  })

const renderer = Effect.gen(function* () {
  // The thread holds some 60 MB, so it ends when no picture was drawn for a minute.
  const threads = yield* RcRef.make({ acquire: thread, idleTimeToLive: "1 minute" })
  const turn = yield* Semaphore.make(1)
  let waiting = 0
  let restsUntil = 0

  const draw = Effect.fn("Pictures.draw")(function* (picture: string) {
    yield* Effect.sleep(Math.max(0, restsUntil - (yield* Clock.currentTimeMillis)))
    const begun = yield* Clock.currentTimeMillis
    const png = yield* Effect.scoped(Effect.flatMap(RcRef.get(threads), (worker) => drawnBy(worker, picture)))
    const ended = yield* Clock.currentTimeMillis
    restsUntil = ended + 3 * (ended - begun)
    return cachedResponse(png, { contentType: "image/png", isCompressible: false, headers })
  })

  const lookup = (picture: string) =>
    Effect.suspend((): Effect.Effect<CachedResponse, "busy" | Cause.TimeoutError> => {
      if (waiting >= mostWaiting) return Effect.fail("busy")
      waiting += 1
      return draw(picture).pipe(
        Effect.timeout("10 seconds"),
        // A thread that failed, hangs or was abandoned draws nothing more.
        Effect.onError(() => RcRef.invalidate(threads)),
        turn.withPermits(1),
        Effect.ensuring(Effect.sync(() => (waiting -= 1))),
      )
    })

  // Pictures have some 50 KB each.
  return yield* Cache.makeWith(lookup, {
    capacity: 100,
    timeToLive: (exit) => (Exit.isSuccess(exit) ? Duration.infinity : Duration.zero),
  })
})

const elsewhere = (path: string) =>
  HttpServerResponse.redirect(path, { status: 307, headers: { "cache-control": "no-store" } })

/** An outdated address leads to the present picture: that of a stone changes when it is opened. */
export const layer = HttpRouter.use((router) =>
  Effect.gen(function* () {
    const acts = yield* Acts
    const { actOf } = yield* actReader
    const pictures = yield* renderer

    yield* router.add("GET", "/acts/:id/:name", (request) =>
      Effect.gen(function* () {
        const { id = "", name } = yield* HttpRouter.params
        if (!isUuid(id)) return yield* new ActNotFound({})
        const act = yield* Effect.flatMap(acts.get(id), actOf)
        const { json, path } = pictureOf(id, act)
        if (path !== `/acts/${id}/${name}`) return elsewhere(path)
        const drawn = yield* Effect.option(Cache.get(pictures, json))
        if (Option.isNone(drawn)) return elsewhere(`/art/previews/${previewOf(act)}.png`)
        return yield* drawn.value.respond(request)
      }).pipe(
        Effect.catchIf(
          (error) => error instanceof ActNotFound,
          (error) => Effect.succeed(refuse(error)),
        ),
      ),
    )
  }),
)
