/** Tests that each have a server of their own; the steps are written as in `Effect.gen`. */
import { it } from "@effect/vitest"
import { Effect, type Layer, type Scope } from "effect"
import { proxiedServer } from "./ProxiedServer.ts"

type Steps<R> = () => Generator<Effect.Effect<unknown, unknown, R | Scope.Scope>, unknown, never>

export const onServer =
  <R, E>(server: Layer.Layer<R, E>) =>
  (sentence: string, steps: Steps<R>) =>
    it.live(sentence, () => Effect.provide(Effect.gen(steps), server))

/** Settled by the relayer, in a request that waits for its outcome. */
export const relayed = onServer(proxiedServer("relayer", "20 seconds"))

/** Settled by the relayer, in a request that is answered 202 after a second. */
export const relayedBriefly = onServer(proxiedServer("relayer"))

/** Settled by a facilitator, in a request that is answered 202 after a second. */
export const facilitated = onServer(proxiedServer("facilitator"))
