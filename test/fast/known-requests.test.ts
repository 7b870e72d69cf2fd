/** What is remembered of requests: bounded, and what is asked most stays. */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { KnownRequests } from "../../src/platform/http/KnownRequests.ts"

const request = (path: string, init: RequestInit = {}) =>
  HttpServerRequest.fromWeb(new Request(`http://altar.example${path}`, init))

const post = (headers: Record<string, string>) => request("/sold", { method: "POST", headers })
const answer = () => Effect.succeed(HttpServerResponse.empty())

it.effect("a request that is asked again outlives any number that are asked once", () =>
  Effect.gen(function* () {
    const known = yield* KnownRequests
    known.set(request("/asked/often"), answer)
    known.set(request("/asked/once"), answer)
    for (let index = 0; index < 5_000; index += 1) {
      known.set(request(`/${index}`), answer)
      assert.strictEqual(known.get(request("/asked/often")), answer)
    }
    assert.isUndefined(known.get(request("/asked/once")))
  }).pipe(Effect.provide(KnownRequests.layer)),
)

it.effect("any number of polls leaves the reads their places, and the newest polls are known", () =>
  Effect.gen(function* () {
    const known = yield* KnownRequests
    known.set(request("/read/once"), answer)
    const poll = () => Effect.succeed(HttpServerResponse.empty())
    for (let after = 0; after < 5_000; after += 1) known.set(request(`/room?after=${after}`), poll, "poll")
    assert.strictEqual(known.get(request("/read/once")), answer)
    assert.strictEqual(known.get(request("/room?after=4999")), poll)
    assert.isUndefined(known.get(request("/room?after=0")))
  }).pipe(Effect.provide(KnownRequests.layer)),
)

it.effect(
  "a question with a key is another than the bare one, and what pays, or has a body without a key, is never known",
  () =>
    Effect.gen(function* () {
      const known = yield* KnownRequests
      const named = { "idempotency-key": "a-key-of-mine" }
      const others: ReadonlyArray<Record<string, string>> = [
        { ...named, "payment-signature": "e30=" },
        { ...named, "x-payment": "e30=" },
        { ...named, authorization: "Payment e30" },
        { "content-length": "2" },
        { "transfer-encoding": "chunked" },
      ]
      for (const headers of others) known.set(post(headers), answer)
      assert.isUndefined(known.get(post({})))
      assert.isUndefined(known.get(post(named)))
      known.set(post({}), answer)
      assert.strictEqual(known.get(post({})), answer)
      assert.isUndefined(known.get(post(named)))
      const another = () => Effect.succeed(HttpServerResponse.empty())
      known.set(post(named), another)
      assert.strictEqual(known.get(post({ "idempotency-key": "a-key-of-yours" })), another)
      assert.strictEqual(known.get(post({})), answer)
      assert.isUndefined(known.get(request("/sold")))
      for (const headers of others) assert.isUndefined(known.get(post(headers)))
    }).pipe(Effect.provide(KnownRequests.layer)),
)
