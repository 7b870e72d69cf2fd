/** Readers who ask for the same thing share one run of it, and never one that had begun before they asked. */
import { Deferred, Effect } from "effect"
import * as Trace from "./Trace.ts"

export interface Sharing<Key, A, E> {
  /** Equal names, equal answers. */
  readonly nameOf: (key: Key) => string
  readonly run: (key: Key) => Effect.Effect<A, E>
}

interface Lane<A, E> {
  /** Whoever waits for the run that has not begun. */
  next: Deferred.Deferred<A, E> | undefined
}

/**
 * A run belongs to nobody: a reader who leaves stops none, and a failure is told to those alone who waited for that run.
 * Of one name, one runs at a time; who asks meanwhile waits for the next. Its span is nobody's child, for the same reason.
 */
export const make = Effect.fnUntraced(function* <Key, A, E>({ nameOf, run }: Sharing<Key, A, E>) {
  const scope = yield* Effect.scope
  const lanes = new Map<string, Lane<A, E>>()

  const work = (name: string, lane: Lane<A, E>, key: Key): Effect.Effect<void> =>
    Effect.suspend(() => {
      const { next } = lane
      if (next === undefined) return Effect.sync(() => void lanes.delete(name))
      lane.next = undefined
      const shared = Trace.span("Coalesced.run", { root: true })(Effect.suspend(() => run(key)))
      return Effect.andThen(Deferred.into(shared, next), work(name, lane, key))
    })

  // Between a lane and its worker nobody may leave: all who come later would wait for ever.
  return (key: Key): Effect.Effect<A, E> =>
    Effect.uninterruptibleMask((restore) => {
      const name = nameOf(key)
      const known = lanes.get(name)
      if (known !== undefined) return restore(Deferred.await((known.next ??= Deferred.makeUnsafe<A, E>())))
      const done = Deferred.makeUnsafe<A, E>()
      const lane: Lane<A, E> = { next: done }
      lanes.set(name, lane)
      return Effect.andThen(Effect.forkIn(work(name, lane, key), scope), restore(Deferred.await(done)))
    })
})
