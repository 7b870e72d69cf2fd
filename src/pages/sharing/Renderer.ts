/** Renders our own drawings as PNG, in a thread that exists while somebody asks for pictures. */
import { Context, Effect, Layer, Schema } from "effect"
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
      let waiting = 0

      const render = Effect.fn("Renderer.render")(function* (svg: string) {
        if (waiting >= most) return yield* new RendererBusy({})
        waiting += 1
        return yield* Effect.orDie(draw(svg)).pipe(Effect.ensuring(Effect.sync(() => void (waiting -= 1))))
      })

      return Renderer.of({ render })
    }),
  )
}
