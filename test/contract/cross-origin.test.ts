/** Pages of other origins may send any header and read every answer outside the room, and nothing in it. */
import { assert, layer } from "../lab/It.ts"
import { Effect } from "effect"
import { openConnection } from "../lab/Connection.ts"
import { anotherServer, ask, realClock, TestServer, world } from "../lab/Fixture.ts"

const origin = "https://dapp.example"

/** The list that is promised, in the words of the promise. */
const exposed =
  "PAYMENT-REQUIRED,PAYMENT-RESPONSE,WWW-Authenticate,Payment-Receipt,Retry-After,Location,Link,ETag,Idempotent-Replayed,X-Request-Id"

/** The headers that every preflight has allowed by name. */
const named = `content-type accept authorization idempotency-key payment-signature x-payment payment-authorization
  accept-payment mcp-protocol-version mcp-method mcp-name if-none-match mcp-session-id last-event-id sign-in-with-x
  access-control-expose-headers`.split(/\s+/u)

const raw = (url: string, bytes: string) =>
  Effect.scoped(
    Effect.flatMap(openConnection(Number(new URL(url).port)), ({ closed, write }) =>
      Effect.andThen(write(bytes), closed),
    ),
  )

const head = (...lines: ReadonlyArray<string>) => `${[...lines, "connection: close"].join("\r\n")}\r\n\r\n`

/** Bytes that Node answers before any route, by the status of the answer. */
const unrouted: ReadonlyArray<readonly [status: number, bytes: string]> = [
  [400, "GARBAGE\r\n\r\n"],
  [400, "GET /api/spirits HTTP/1.1\r\nhost: a\r\nbad header\r\n\r\n"],
  [400, "GET /api/spirits HTTP/9.9\r\nhost: a\r\n\r\n"],
  [400, "POST /api/witness HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n"],
  [400, head("GET /api/spirits HTTP/1.1")],
  [431, head("POST /api/witness HTTP/1.1", "host: a", `payment-signature: ${"a".repeat(40_000)}`)],
  [417, head("POST /api/witness HTTP/1.1", "host: a", "expect: miracles")],
  [404, head("GET /api/nothing HTTP/1.1", "host: a", "upgrade: websocket")],
  [404, head("GET /%E0%A4%A HTTP/1.1", "host: a")],
  [405, head("PURGE /api/witness HTTP/1.1", "host: a")],
]

layer(world(), realClock)("outside the room,", (it) => {
  it.effect("answers that no route gives expose the same headers", function* () {
    const { url } = yield* TestServer
    for (const [status, bytes] of unrouted) {
      const answer = yield* raw(url, bytes)
      assert.match(answer, new RegExp(`^HTTP/1\\.1 ${status} `, "u"), bytes.slice(0, 60))
      assert.include(answer, `\r\naccess-control-allow-origin: *\r\n`, bytes.slice(0, 60))
      assert.include(answer, `\r\naccess-control-expose-headers: ${exposed}\r\n`, bytes.slice(0, 60))
    }
  })

  it.effect("answers take their addresses from the configuration, never from the Host of a request", function* () {
    const { url } = yield* TestServer
    const posing = ["host: evil.example", "x-forwarded-host: evil.example", "forwarded: host=evil.example"]
    for (const path of ["/openapi.json", "/.well-known/x402", "/llms.txt", "/acts.atom", "/witness/x", "/v2/", "/"])
      assert.notInclude(yield* raw(url, head(`GET ${path} HTTP/1.1`, ...posing)), "evil.example", path)
    const offer = yield* raw(url, head("POST /api/witness HTTP/1.1", ...posing, "content-length: 0"))
    const [, challenge = ""] = /payment-required: (\S+)/iu.exec(offer) ?? []
    assert.strictEqual(JSON.parse(Buffer.from(challenge, "base64").toString()).resource.url, `${url}/api/witness`)
  })

  it.effect("a preflight allows the named headers and any other one, and echoes nothing", function* () {
    const { url } = yield* TestServer
    const tools = yield* anotherServer({}, { publicUrl: "https://altar.example" })
    for (const target of [`${url}/api/witness`, `${url}/api/nowhere`, `${url}/sandbox`, `${tools}/mcp`])
      for (const wanted of ["baggage,sentry-trace,traceparent,tracestate", "range,cache-control", "x-api-key", ""]) {
        const asked = { "access-control-request-method": "POST", "access-control-request-headers": wanted }
        const { headers, status } = yield* ask(target, { method: "OPTIONS", headers: { origin, ...asked } })
        assert.deepStrictEqual([status, headers.get("access-control-allow-origin")], [204, "*"], target)
        assert.deepStrictEqual(headers.get("access-control-allow-headers")?.split(","), [...named, "*"], wanted)
        assert.strictEqual(headers.get("access-control-expose-headers"), exposed)
      }
  })

  it.effect("nothing is granted for the room, in whatever spelling it is asked for", function* () {
    const { url } = yield* TestServer
    const paths = [
      "/api/rooms",
      "/api/rooms/x",
      "/api/health",
      "/livez",
      "/readyz",
      "/signals",
      "/signals/",
      "/api/%72ooms",
    ]
    for (const path of paths)
      for (const target of [path, `${url}${path}`, `HTTP://altar.example${path}`]) {
        const answer = yield* raw(url, head(`GET ${target} HTTP/1.1`, "host: a", `origin: ${origin}`))
        assert.notMatch(answer, /access-control-/iu, target)
        const rest = head(`GET ${target} HTTP/1.1`, "host: a").replace("connection: close", "content-length: 1")
        assert.notMatch(yield* raw(url, `${rest}{}}\r\n\r\n`), /access-control-/iu, `the rest of ${target}`)
      }
  })
})
