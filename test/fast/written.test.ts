/** An answer in all its forms: its schema, its encoding, its tag, and when there is nothing to send. */
import { brotliDecompressSync, gunzipSync } from "node:zlib"
import { assert, describe, it } from "../lab/It.ts"
import { Cause, Effect, Schema } from "effect"
import { HttpServerRequest, type HttpServerResponse } from "effect/http"
import { encoderOf, MalformedAnswer, textOf } from "../../src/altar/Answers.ts"
import { encodingFor, preferred } from "../../src/http/Accept.ts"
import { cachedResponse } from "../../src/http/CachedResponse.ts"

const text = JSON.stringify({ ok: true, words: Array.from({ length: 200 }, (_, index) => `stone ${index}`) })

const from = (headers: Record<string, string> = {}) =>
  HttpServerRequest.fromWeb(new Request("http://altar.example/", { headers }))

const bytesOf = ({ body }: HttpServerResponse.HttpServerResponse) =>
  body._tag === "Uint8Array" ? body.body : new Uint8Array()

const plain = (bytes: Uint8Array, encoding: string | undefined) =>
  Buffer.from(
    encoding === "br" ? brotliDecompressSync(bytes) : encoding === "gzip" ? gunzipSync(bytes) : bytes,
  ).toString()

describe("an accepted encoding", () => {
  it.each([
    [undefined, "identity"],
    ["", "identity"],
    ["gzip", "gzip"],
    ["gzip, deflate", "gzip"],
    ["gzip, deflate, br, zstd", "br"],
    ["br;q=0.5, gzip", "gzip"],
    ["br;q=0, gzip;q=0", "identity"],
    ["br;q=0.000, gzip;q=0.1", "gzip"],
    ["*", "br"],
    ["*;q=0", "identity"],
    ["br;q=0, *", "gzip"],
    ["identity, gzip;q=0.5", "identity"],
    ["GZIP;Q=1", "gzip"],
    ["deflate", "identity"],
    ["gzip;q=nonsense", "identity"],
  ] as const)("of %s is %s", (header, encoding) => {
    assert.strictEqual(encodingFor(header), encoding)
    assert.strictEqual(encodingFor(header), encoding, "and the second time")
  })
})

it("content negotiation follows the most specific range and its quality", () => {
  const kinds = { html: "text/html", json: "application/json" } as const
  const asked: ReadonlyArray<readonly [string | undefined, keyof typeof kinds | undefined]> = [
    [undefined, "html"],
    ["", "html"],
    ["*/*", "html"],
    ["text/*", "html"],
    ["application/*", "json"],
    ["application/json", "json"],
    ["APPLICATION/JSON", "json"],
    ["application/json, text/html", "html"],
    ["text/html;q=0.5, application/json", "json"],
    ["application/json;q=0.2, */*;q=0.1", "json"],
    ["text/html;q=0, */*", "json"],
    ["text/html;q=0, application/json;q=0", undefined],
    ["image/avif, image/*", undefined],
  ]
  for (const [accept, kind] of asked) {
    const found = preferred(accept, [kinds.html, kinds.json])
    assert.strictEqual(found, kind === undefined ? undefined : kinds[kind], accept)
  }
})

describe("a cached response", () => {
  it.effect("has one strong tag for each sequence of bytes, and 304 for that tag alone", function* () {
    const one = cachedResponse(text)
    const tags = new Map<string, string>()
    for (const accepted of ["identity", "gzip", "br"]) {
      const response = yield* one.respond(from({ "accept-encoding": accepted }))
      const { etag = "", "content-encoding": encoding, vary } = response.headers
      assert.match(etag, /^"[\w-]{22}"$/u)
      assert.strictEqual(vary, "accept-encoding")
      assert.strictEqual(encoding ?? "identity", accepted)
      assert.strictEqual(plain(bytesOf(response), encoding), text)
      tags.set(accepted, etag)
    }
    assert.strictEqual(new Set(tags.values()).size, 3)
    for (const accepted of tags.keys()) {
      for (const [encoding, etag] of tags) {
        for (const named of [etag, `W/${etag}`, `"x", ${etag}`]) {
          const request = from({ "accept-encoding": accepted, "if-none-match": named })
          const { body, headers, status } = yield* one.respond(request)
          assert.strictEqual(status, encoding === accepted ? 304 : 200, `${accepted} of ${encoding}`)
          assert.strictEqual(headers["etag"], tags.get(accepted))
          if (status === 304) assert.strictEqual(body._tag, "Empty")
        }
      }
    }
  })

  it.effect("is compressed once for all concurrent readers", function* () {
    const one = cachedResponse(text)
    const ask = Effect.suspend(() => one.respond(from({ "accept-encoding": "gzip" })))
    const [first, second] = yield* Effect.all([ask, ask], { concurrency: "unbounded" })
    assert.deepStrictEqual(bytesOf(first), bytesOf(second))
    assert.strictEqual(yield* ask, yield* ask)
  })

  it.effect("stays uncompressed when it is short, and varies by its kind, too", function* () {
    const short = yield* cachedResponse('{"ok":true}').respond(from({ "accept-encoding": "gzip" }))
    assert.isUndefined(short.headers["content-encoding"])
    assert.isUndefined(short.headers["vary"])
    const { headers } = yield* cachedResponse(text, { headers: { vary: "accept" } }).respond(from())
    assert.strictEqual(headers["vary"], "accept, accept-encoding")
  })
})

it.effect("an offer response has its status and no tag, and is compressed once", function* () {
  const offer = cachedResponse(text, { status: 402, headers: { "cache-control": "no-store" } })
  const request = from({ "accept-encoding": "br", "if-none-match": "*" })
  const response = yield* offer.respond(request)
  assert.strictEqual(response.status, 402)
  assert.isUndefined(response.headers["etag"])
  assert.strictEqual(response.headers["cache-control"], "no-store")
  assert.strictEqual(plain(bytesOf(response), "br"), text)
  assert.strictEqual(yield* offer.respond(request), response)
})

const Pebble = Schema.Struct({
  ok: Schema.Literal(true),
  weight: Schema.Int,
  finder: Schema.NullOr(Schema.Struct({ name: Schema.NonEmptyString })),
}).annotate({ identifier: "Pebble" })

const encode = encoderOf(Pebble)

it.effect("a response has the members of the contract, in its order, and no other", function* () {
  const pebble = { secret: "salt", finder: { wallet: "0x1", name: "Wren" }, weight: 3, ok: true as const }
  assert.strictEqual(JSON.stringify(yield* encode(pebble)), '{"ok":true,"weight":3,"finder":{"name":"Wren"}}')
})

it.effect("a response outside of the contract is a defect that names its members and not their values", function* () {
  const write = textOf(Pebble)
  const exit = yield* Effect.exit(write({ ok: true, weight: 0.5, finder: { name: "" } }))
  assert.isTrue(exit._tag === "Failure" && Cause.hasDies(exit.cause))
  const defect = exit._tag === "Failure" ? Cause.squash(exit.cause) : undefined
  assert.instanceOf(defect, MalformedAnswer)
  assert.strictEqual(defect.message, "Pebble does not have its form: weight, finder/name")
})
