/** Tests whose bodies are generators of effects: `effect("a title that holds", function* () { … })`. */
import { it } from "@effect/vitest"
import { Effect, type Scope } from "effect"

type Test<R> = (title: string, self: () => Effect.Effect<unknown, unknown, R>, timeout?: number) => void

type Generated<R> = (
  title: string,
  body: () => Generator<Effect.Effect<unknown, unknown, R>, unknown, never>,
  timeout?: number,
) => void

const generated =
  <R>(test: Test<R>): Generated<R> =>
  (title, body, timeout) =>
    test(title, () => Effect.gen(body), timeout)

/** Tests of a layer. */
export const effects = <R>(it: { readonly effect: Test<R> }) => generated(it.effect)

/** A test with test services: its clock stands still. */
export const effect = generated<Scope.Scope>(it.effect)

/** A test with the real clock. */
export const live = generated<Scope.Scope>(it.live)
