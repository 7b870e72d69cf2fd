/** Renders our own drawings as PNG in a thread that runs only while pictures are requested. */
import { Context, Effect, Fiber, Layer, Schema } from "effect"
import * as Thread from "../../platform/Thread.ts"

/** The queue is full; a later retry succeeds. */
export class RendererBusy extends Schema.TaggedError<RendererBusy>()("RendererBusy", {}) {}

/** Maximum queued drawings, including the one in progress. */
const most = 16

export class Renderer extends Context.Service<
  Renderer,
  {
    /** Returns the PNG of an SVG document that was made here; at most 16 are queued. */
    render(svg: string): Effect.Effect<Uint8Array, RendererBusy>
  }
>()("spirit-altar/pages/sharing/Renderer") {
  static readonly layer = Layer.effect(
    Renderer,
    Effect.gen(function* () {
      const draw = yield* Thread.make<string, Uint8Array>(Thread.programOf("renderer"))
      const scope = yield* Effect.scope
      let waiting = 0

      /** Holds a place in the queue until it is drawn. */
      const drawn = (svg: string) =>
        Effect.suspend(() => {
          waiting += 1
          return Effect.ensuring(
            Effect.orDie(draw(svg)),
            Effect.sync(() => void (waiting -= 1)),
          )
        })

      const render = Effect.fn("Renderer.render")(function* (svg: string) {
        if (waiting >= most) return yield* new RendererBusy({})
        // The thread also finishes drawings of callers that left, so their places stay taken.
        return yield* Fiber.join(yield* Effect.forkIn(drawn(svg), scope, { startImmediately: true }))
      })

      return Renderer.of({ render })
    }),
  )
}
