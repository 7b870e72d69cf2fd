/**
 * The words of a test, with its assertions. Tests are generators that receive what their fixture holds: no fixture, one for a
 * whole suite, or one for each test.
 */
import { describe, it as vitest, layer } from "@effect/vitest"
import { Context, Effect, type Layer, type Scope } from "effect"
import { SqlClient } from "effect/sql"
import { Proxies, TestServer } from "./TestServices.ts"

export { assert, describe, it } from "@effect/vitest"
export * from "./Assertions.ts"

/** The parts that a test receives: URL of the server, the tests' SQL, and the proxies, as far as the fixture has them. */
type Given<R> = (TestServer extends R ? TestServer["Service"] : unknown) &
  (SqlClient.SqlClient extends R ? { readonly sql: SqlClient.SqlClient } : unknown) &
  (Proxies extends R ? Proxies["Service"] : unknown)

/** A generator of effects, or an effect as it is. */
type Body<Eff, A, R> = Generator<Eff, A, never> | Effect.Effect<unknown, unknown, R | Scope.Scope>

interface Test<R> {
  <Eff extends Effect.Effect<unknown, unknown, R | Scope.Scope>, A>(
    title: string,
    body: (given: Given<R>) => Body<Eff, A, R>,
    timeout?: number,
  ): void
  /** One test for each case, which the title may name by `%s` or `$member`. */
  readonly each: <T>(
    cases: ReadonlyArray<T>,
  ) => <Eff extends Effect.Effect<unknown, unknown, R | Scope.Scope>, A>(
    title: string,
    body: (one: T, given: Given<R>) => Body<Eff, A, R>,
    timeout?: number,
  ) => void
}

const given = Effect.map(Effect.context<never>(), (services) => {
  const find = <I, S>(key: Context.Key<I, S>): S => Context.getUnsafe(services, key)
  const parts = {
    url: () => find(TestServer).url,
    sql: () => find(SqlClient.SqlClient),
    rpc: () => find(Proxies).rpc,
    facilitator: () => find(Proxies).facilitator,
    database: () => find(Proxies).database,
  }
  return new Proxy(parts, { get: (_, name) => parts[name as keyof typeof parts]() })
})

type AnyBody = Body<Effect.Effect<unknown, unknown, never>, unknown, never>

/** A test of @effect/vitest whose bodies are generators; `provide` gives them their fixture. */
const generators = <R>(
  test: typeof vitest.live,
  provide = (body: Effect.Effect<unknown, unknown>) => body,
): Test<R> => {
  const run = (body: (found: never) => AnyBody) =>
    provide(
      Effect.flatMap(given, (found) => {
        const made = body(found as never)
        return Effect.isEffect(made) ? (made as Effect.Effect<unknown, unknown>) : Effect.gen(() => made)
      }),
    )
  return Object.assign(
    (title: string, body: (found: never) => AnyBody, timeout?: number) => test(title, () => run(body), timeout),
    {
      each:
        <T>(cases: ReadonlyArray<T>) =>
        (title: string, body: (one: T, found: never) => AnyBody, timeout?: number) =>
          test.each(cases)(title, (one) => run((found) => body(one, found)), timeout),
    },
  ) as never
}

/** A test with test services: its clock stands still. */
export const effect: Test<never> = generators(vitest.effect as never)

/** A test with the real clock. */
export const live: Test<never> = generators(vitest.live)

/** All tests of this suite share the fixture and run one after the other; their clock is real unless told otherwise. */
export const suite = <R, E>(
  name: string,
  fixture: Layer.Layer<R, E>,
  define: (it: Test<R>) => void,
  options = { excludeTestServices: true },
) => layer(fixture, options)(name, (it) => define(generators(it.effect as never)))

const testOn = <R, E>(fixture: Layer.Layer<R, E>): Test<R> =>
  generators(vitest.live, (body) => Effect.provide(body, fixture))

/** Each test of this suite has a fixture of its own, by `on` another one, and runs beside the others. */
export const apart = <R, E>(
  name: string,
  fixture: Layer.Layer<R, E>,
  define: (it: Test<R> & { readonly on: typeof testOn }) => void,
) => {
  describe(`${name}`, { concurrent: true }, () => {
    define(Object.assign(testOn(fixture), { on: testOn }))
  })
}
