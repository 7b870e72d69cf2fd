/** Pictures of acts: each is drawn once and one at a time, with a quarter of a core at most, since strangers ask. */
import { Worker } from "node:worker_threads"
import { Cache, Cause, Context, Duration, Effect, Exit, Option, RcRef } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { ActNotFound } from "../../../schema/payments/Act.ts"
import { Acts } from "../../altar/Acts.ts"
import { cachedResponse } from "../../http/CachedResponse.ts"
import { refuse } from "../../http/Responses.ts"
import { assetPath } from "../../platform/Assets.ts"
import * as DatabaseWatch from "../../platform/DatabaseWatch.ts"
import { packageRoot } from "../../platform/PackageRoot.ts"
import { isUuid } from "../Pages.ts"
import { actReader } from "../templates/ActList.ts"
import { pictureOf, previewOf } from "./Card.ts"
import * as Turns from "./Turns.ts"

/** A year, the maximum lifetime in caches: another content has another address. */
const headers = { "cache-control": "public, max-age=31536000, immutable" }

/** The program of the thread. */
export const program = Context.Reference("spirit-altar/pages/Pictures/program", {
  defaultValue: () => new URL("dist/server/picture.js", packageRoot),
})

const thread = Effect.acquireRelease(
  Effect.map(program, (file) => {
    const workerData = new URL(`dist/web${assetPath("/type/vollkorn-roman.woff2")}`, packageRoot).href
    return new Worker(file, { workerData, execArgv: [] })
  }),
  (worker) => Effect.promise(() => worker.terminate()),
)

const drawnBy = (worker: Worker, picture: string) =>
  Effect.callback<Uint8Array, Error>((resume) => {
    worker.removeAllListeners()
    worker.once("message", (png) => resume(Effect.succeed(png)))
    worker.once("error", (error) => resume(Effect.fail(error)))
    worker.postMessage(picture, [])
  })

const renderer = Effect.gen(function* () {
  // The thread holds some 60 MB, so it ends when no picture was drawn for a minute.
  const threads = yield* RcRef.make({ acquire: thread, idleTimeToLive: "1 minute" })
  const inTurn = yield* Turns.make

  const lookup = (picture: string) =>
    Effect.scoped(Effect.flatMap(RcRef.get(threads), (worker) => drawnBy(worker, picture))).pipe(
      Effect.tapError((error) => DatabaseWatch.failed("request failed")(Cause.fail(error))),
      // A thread that failed, hangs or was abandoned draws nothing more.
      Effect.onError(() => RcRef.invalidate(threads)),
      Effect.map((png) => cachedResponse(png, { contentType: "image/png", isCompressible: false, headers })),
      Effect.withSpan("Pictures.draw"),
      inTurn,
    )

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
