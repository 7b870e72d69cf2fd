/** Which URLs are remembered. */
import { Effect, Layer, Schema } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApiEndpoint } from "effect/http-api"
import { UrlCache, urlMaximum } from "../../src/http/UrlCache.ts"
import { assert, describe, effect } from "../lab/Suites.ts"

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
