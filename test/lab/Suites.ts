/** Tests as generators that receive what their fixture holds: one fixture for a whole suite, or one for each test. */
import { describe, it as vitestIt, layer } from "@effect/vitest"
import { Context, Effect, type Layer, type Scope } from "effect"
import { SqlClient } from "effect/sql"
import { TestServer } from "./Fixture.ts"
import { Proxies } from "./server/ProxiedServer.ts"

/** What a test receives: URL of the server, the tests' SQL, and the proxies, as far as the fixture has them. */
type Given<R> = (TestServer extends R ? TestServer["Service"] : unknown) &
  (SqlClient.SqlClient extends R ? { readonly sql: SqlClient.SqlClient } : unknown) &
  (Proxies extends R ? Proxies["Service"] : unknown)

type Test<R> = <Eff extends Effect.Effect<unknown, unknown, R | Scope.Scope>, A>(
  title: string,
  body: (given: Given<R>) => Generator<Eff, A, never>,
  timeout?: number,
) => void

const given = Effect.map(Effect.context<never>(), (services) => {
  const find = <I, S>(key: Context.Key<I, S>): S => Context.getUnsafe(services, key)
  return {
    get url() {
      return find(TestServer).url
    },
    get sql() {
      return find(SqlClient.SqlClient)
    },
    get rpc() {
      return find(Proxies).rpc
    },
    get facilitator() {
      return find(Proxies).facilitator
    },
    get database() {
      return find(Proxies).database
    },
  }
})

const bodyOf = (body: (given: never) => Generator<Effect.Effect<unknown, unknown, never>, unknown, never>) =>
  Effect.flatMap(given, (found) => Effect.gen(() => body(found as never)))

/** All tests of this suite share the fixture and run one after the other. */
export const suite = <R, E>(name: string, fixture: Layer.Layer<R, E>, define: (it: Test<R>) => void) =>
  layer(fixture, { excludeTestServices: true })(name, (it) =>
    define((title, body, timeout) => it.effect(title, () => bodyOf(body as never), timeout)),
  )

const testOn =
  <R, E>(fixture: Layer.Layer<R, E>): Test<R> =>
  (title, body, timeout) =>
    vitestIt.live(title, () => Effect.provide(bodyOf(body as never), fixture), timeout)

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
