/** A service that runs outside of any effect. */
import { Context, Effect, Exit, Layer, Scope } from "effect"

/** Builds a layer; its service ends with `close`. */
export const started = async <I, S, E>(key: Context.Key<I, S>, layer: Layer.Layer<I, E>) => {
  const scope = Scope.makeUnsafe()
  const close = () => Effect.runPromise(Scope.close(scope, Exit.void))
  try {
    const context = await Effect.runPromise(Layer.buildWithScope(layer, scope))
    return { service: Context.get(context, key), close }
  } catch (cause) {
    await close()
    throw cause
  }
}
