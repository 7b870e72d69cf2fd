/** Tests that each have a server of their own; the steps are written as in `Effect.gen`. */
import { Effect, type Layer, type Scope } from "effect"
import { it, effectOf, type Steps } from "../It.ts"
import { proxiedServer, stage } from "./ProxiedServer.ts"

export const onServer =
  <R, E>(server: Layer.Layer<R, E>) =>
  (sentence: string, steps: Steps<R | Scope.Scope>) =>
    it.live(sentence, () => Effect.provide(effectOf(steps)(), server))

/** Settled by the relayer, in a request that waits for its outcome. */
export const relayed = onServer(proxiedServer("relayer", "20 seconds"))

/** Settled by the relayer, in a request that is answered 202 after five seconds. */
export const relayedInFiveSeconds = onServer(proxiedServer("relayer", "5 seconds"))

/** Settled by the relayer, in a request that is answered 202 after a second. */
export const relayedBriefly = onServer(proxiedServer("relayer"))

/** Settled by a facilitator, in a request that is answered 202 after a second. */
export const facilitated = onServer(proxiedServer("facilitator"))

/** With proxies, a database and a chain, and no server. */
export const staged = onServer(stage)
