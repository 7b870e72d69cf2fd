/** Vitest, where the steps of a test with effects are a generator function, as in `Effect.gen`. */
import * as Vitest from "@effect/vitest"
import { Effect, type Layer, type Scope } from "effect"

export * from "@effect/vitest"

export type Steps<R, Args extends ReadonlyArray<unknown> = []> = (
  ...args: Args
) => Effect.Effect<unknown, unknown, R> | Generator<Effect.Effect<unknown, unknown, R>, unknown, never>

type Options = number | Vitest.TestOptions

interface Tester<R> extends Pick<Vitest.Vitest.Tester<R>, "prop"> {
  (title: string, steps: Steps<R, [Vitest.TestContext]>, options?: Options): void
  readonly each: <Case>(
    cases: ReadonlyArray<Case>,
  ) => (title: string, steps: Steps<R, [Case, Vitest.TestContext]>, options?: Options) => void
}

type It<R> = Vitest.API & Pick<Vitest.Vitest.MethodsNonLive<R>, "layer"> & { readonly effect: Tester<R | Scope.Scope> }

export const effectOf =
  <R, Args extends ReadonlyArray<unknown>>(steps: Steps<R, Args>) =>
  (...args: Args) => {
    const made = steps(...args)
    return Effect.isEffect(made) ? made : Effect.gen(() => made)
  }

const testerOf = <R>(test: Vitest.Vitest.Tester<R>): Tester<R> =>
  Object.assign(
    (title: string, steps: Steps<R, [Vitest.TestContext]>, options?: Options) => test(title, effectOf(steps), options),
    {
      prop: test.prop,
      each:
        <Case>(cases: ReadonlyArray<Case>) =>
        (title: string, steps: Steps<R, [Case, Vitest.TestContext]>, options?: Options) =>
          test.each(cases)(title, effectOf(steps), options),
    },
  )

const withSteps = <R>(methods: Vitest.Vitest.MethodsNonLive<R>): It<R> => {
  const effect = testerOf(methods.effect)
  return new Proxy(methods, {
    get: (target, name) => (name === "effect" ? effect : Reflect.get(target, name)),
  }) as It<R>
}

const live = testerOf(Vitest.it.live)
const tests = withSteps(Vitest.it)

/** Vitest's own for plain tests; `effect` has the clock of a test, `live` the real one. */
export const it = new Proxy(tests, {
  get: (target, name) => (name === "live" ? live : Reflect.get(target, name)),
}) as It<never> & { readonly live: Tester<Scope.Scope> }

/** A suite whose tests share a layer. */
export const layer =
  <R, E>(shared: Layer.Layer<R, E>, options?: Parameters<typeof Vitest.layer>[1]) =>
  (title: string, suite: (it: It<R>) => void) =>
    Vitest.layer(shared, options)(title, (methods) => suite(withSteps(methods)))
