/** Renders our own drawings as PNG, in a thread that exists while somebody asks for pictures. */
import { Context, Effect, Fiber, Layer, Schema } from "effect"
import * as Thread from "../../platform/Thread.ts"

/** As many are waited for as can be; asked again later, there is room. */
export class RendererBusy extends Schema.TaggedError<RendererBusy>()("RendererBusy", {}) {}

/** Drawings that wait, the one under way included. */
const most = 16

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
      const draw = yield* Thread.make<string, Uint8Array>(Thread.programOf("renderer"))
      const scope = yield* Effect.scope
      let waiting = 0

      /** Takes a place until it is drawn. */
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
        // The thread draws also for whoever has left: it is no place free.
        return yield* Fiber.join(yield* Effect.forkIn(drawn(svg), scope, { startImmediately: true }))
      })

      return Renderer.of({ render })
    }),
  )
}
