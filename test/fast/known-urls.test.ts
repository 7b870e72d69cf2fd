/** Which URLs are remembered, and what of a request is looked at again. */
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { Effect, Layer, Schema } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApiEndpoint } from "effect/http-api"
import { UrlCache, urlMaximum } from "../../src/http/UrlCache.ts"
import { assert, assertEach, describe, effect } from "../lab/Suites.ts"

const request = (path: string, init: RequestInit = {}) =>
  HttpServerRequest.fromWeb(new Request(`http://altar.example${path}`, init))

const endpoint = HttpApiEndpoint.get("read", "/read")
const guarded = HttpApiEndpoint.post("sell", "/sold", {
  headers: { "idempotency-key": Schema.optionalKey(Schema.Literal("good")) },
})
const [routed, answered] = [HttpServerResponse.text("by the router"), HttpServerResponse.text("by the handler")]
const whole = Effect.succeed(routed)

const call = (path: string) => ({ request: request(path), endpoint })
const handler = () => Effect.succeed(answered)
const bounded = UrlCache.layer.pipe(Layer.provide(Layer.succeed(urlMaximum, 2)))

describe("the cache of URLs", () => {
  effect(
    "evicts a URL after as many newer ones of its endpoint, keeps those of other endpoints, and omits long ones",
    () =>
      Effect.gen(function* () {
        const urls = yield* UrlCache
        urls.remember({ request: request("/sold", { method: "POST" }), endpoint: guarded }, handler)
        for (const path of ["/1", "/2", "/3"]) urls.remember(call(path), handler)
        assert.strictEqual(yield* urls.answer(request("/1"), whole), routed)
        assert.strictEqual(yield* urls.answer(request("/2"), whole), answered)
        assert.strictEqual(yield* urls.answer(request("/3"), whole), answered)
        assert.strictEqual(yield* urls.answer(request("/sold", { method: "POST" }), whole), answered)
        const long = `/${"a".repeat(600)}`
        urls.remember(call(long), handler)
        assert.strictEqual(yield* urls.answer(request(long), whole), routed)
      }).pipe(Effect.provide(bounded)),
  )
})

effect("the cache of URLs contains nothing of the request", () =>
  Effect.gen(function* () {
    const urls = yield* UrlCache
    setFlagsFromString("--expose-gc")
    const collect: () => void = runInNewContext("gc")
    const remembered = () => {
      const first = { ...call("/read"), headers: { authorization: "Bearer secret" } }
      urls.remember(first, handler)
      return [new WeakRef(first.request), new WeakRef(first.headers)]
    }
    const references = remembered()
    // A reference that was just made lives to the end of its turn.
    yield* Effect.promise(() => new Promise((resolve) => void setImmediate(resolve)))
    collect()
    assertEach(references, (one) => one.deref(), [undefined, undefined])
    assert.strictEqual(yield* urls.answer(request("/read"), whole), answered)
  }).pipe(Effect.provide(UrlCache.layer)),
)
