/** What is remembered of requests: bounded, and what is asked most stays. */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { KnownRequests } from "../../src/platform/http/KnownRequests.ts"

const request = (path: string) => HttpServerRequest.fromWeb(new Request(`http://altar.example${path}`))

it.effect("a request that is asked again outlives any number that are asked once", () =>
  Effect.gen(function* () {
    const known = yield* KnownRequests
    const answer = () => Effect.succeed(HttpServerResponse.empty())
    known.set(request("/asked/often"), answer)
    known.set(request("/asked/once"), answer)
    for (let index = 0; index < 5_000; index += 1) {
      known.set(request(`/${index}`), answer)
      assert.strictEqual(known.get(request("/asked/often")), answer)
    }
    assert.isUndefined(known.get(request("/asked/once")))
  }).pipe(Effect.provide(KnownRequests.layer)),
)
