/** Renders our own drawings as PNG, in a thread that exists while somebody asks for pictures. */
import { Worker } from "node:worker_threads"
import { Context, Deferred, Duration, Effect, Exit, Layer, RcRef, Schema } from "effect"
import { packageRoot } from "../../platform/PackageRoot.ts"

/** As many are waited for as can be; asked again later, there is room. */
export class RendererBusy extends Schema.TaggedError<RendererBusy>()("RendererBusy", {}) {}

/** Drawings that wait, the one under way included. */
const most = 16

/** Far longer than any drawing of ours takes. */
const patience = Duration.minutes(1)

/** The thread and its engine take some 40 MB. */
const idle = Duration.minutes(1)

/** What `src/build.ts` makes of `Worker.ts`. */
const program = new URL("dist/server/renderer.js", packageRoot)

/** The thread answers in the order it is asked. */
const thread = Effect.gen(function* () {
  const asked: Array<Deferred.Deferred<Uint8Array>> = []
  let failure: unknown
  const worker = yield* Effect.acquireRelease(
    Effect.sync(() => new Worker(program)),
    (worker) => Effect.promise(() => worker.terminate()),
  )
  worker.unref()
  worker.on("message", (png: Uint8Array) => {
    const first = asked.shift()
    if (first !== undefined) Deferred.doneUnsafe(first, Exit.succeed(png))
  })
  worker.on("error", (error) => {
    failure = error
    for (const one of asked.splice(0)) Deferred.doneUnsafe(one, Exit.die(error))
  })
  return (svg: string) =>
    Effect.suspend(() => {
      if (failure !== undefined) return Effect.die(failure)
      if (asked.length >= most) return Effect.fail(new RendererBusy({}))
      const done = Deferred.makeUnsafe<Uint8Array>()
      asked.push(done)
      worker.postMessage(svg, [])
      return Deferred.await(done)
    })
})

export class Renderer extends Context.Service<
  Renderer,
  {
    /** The PNG of an SVG document that was made here; 16 wait at most. */
    render(svg: string): Effect.Effect<Uint8Array, RendererBusy>
  }
>()("spirit-altar/pages/sharing/Renderer") {
  static readonly layer = Layer.effect(
    Renderer,
    Effect.gen(function* () {
      const shared = yield* RcRef.make({ acquire: thread, idleTimeToLive: idle })

      const render = Effect.fn("Renderer.render")((svg: string) =>
        Effect.scoped(Effect.flatMap(RcRef.get(shared), (draw) => draw(svg))).pipe(
          Effect.timeout(patience),
          Effect.catchTag("TimeoutError", Effect.die),
          // A thread that failed or hangs draws nothing more.
          Effect.tapDefect(() => RcRef.invalidate(shared)),
        ),
      )

      return Renderer.of({ render })
    }),
  )
}
