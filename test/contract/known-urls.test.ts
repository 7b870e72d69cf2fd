/** Requests asked twice: a URL that is known is answered as the router answers it, to the byte. */
import { buy } from "../lab/buyer/Purchase.ts"
import { assert, layer } from "../lab/It.ts"
import { Effect, Layer } from "effect"
import { Statement } from "effect/sql"
import { AppConfig } from "../../src/server/config/Config.ts"
import { urlMaximum } from "../../src/http/UrlCache.ts"
import * as Server from "../../src/server/Server.ts"
import { freePort } from "../lab/Ports.ts"
import { loopback, newRoom } from "../lab/server/Rooms.ts"
import { type Answer, ask, newCommitment, newKey, post, realClock, TestServer, world } from "../lab/Fixture.ts"

const headers = `content-type content-encoding content-length etag cache-control vary allow www-authenticate link
  access-control-allow-origin payment-required payment-response idempotent-replayed content-security-policy`.split(
  /\s+/u,
)

/** The whole answer, but for times. */
const saidBy = ({ headers: said, status, text }: Answer) => ({
  status,
  headers: headers.map((name) => said.get(name)),
  body: text.replaceAll(/"(?:serverTime|requestId)":"[^"]*"/gu, ""),
})

let lookups = 0

const counting = Layer.succeed(Statement.CurrentTransformer, (statement) => {
  if (statement.compile()[0].includes("payment_claims WHERE name = n.name")) lookups += 1
  return Effect.succeed(statement)
})

const fixture = world({}, { trustedProxies: loopback }).pipe(Layer.provide(counting))

layer(fixture, realClock)("a repeated URL", (it) => {
  it.effect("is answered as the router answers it", function* () {
    const { url } = yield* TestServer
    const config = yield* AppConfig
    const port = yield* freePort
    yield* Layer.build(
      Layer.fresh(
        Server.layer(Layer.empty).pipe(
          Layer.provide(Layer.succeed(AppConfig, { ...config, port })),
          Layer.provide(Layer.succeed(urlMaximum, 0)),
        ),
      ),
    )
    const { key, record } = yield* buy()
    const { id, token } = yield* newRoom(url)
    const list = `${url}/api/witness?limit=20`
    const etag = (yield* ask(list)).headers.get("etag") ?? ""
    const sent = (body: string, more: Record<string, string> = {}) => ({
      method: "POST",
      headers: { "content-type": "application/json", ...more },
      body,
    })
    const stone = JSON.stringify({ commitment: newCommitment() })
    const cases: ReadonlyArray<readonly [path: string, status: number, init?: RequestInit]> = [
      ["/api/witness?limit=20", 200],
      ["/api/witness?limit=20", 200, { method: "HEAD" }],
      ["/api/witness?limit=20", 200, { headers: { "accept-encoding": "gzip" } }],
      ["/api/witness?limit=20", 304, { headers: { "if-none-match": etag } }],
      ["/api/witness?limit=20", 405, { method: "PUT" }],
      ["/api/witness?limit=20&limit=21", 400],
      [`/api/witness/${record.id}`, 200],
      [`/api/witness/${record.id.toUpperCase()}`, 404],
      ["/api/witness", 402, { method: "POST" }],
      ["/api/witness", 402, sent(stone, { "idempotency-key": newKey() })],
      ["/api/witness", 409, sent(stone, { "idempotency-key": key })],
      ["/api/witness", 400, sent("{}", { "idempotency-key": newKey() })],
      ["/api/witness", 415, sent("a", { "content-type": "text/plain", "idempotency-key": newKey() })],
      ["/api/witness", 413, sent(" ".repeat(70_000), { "idempotency-key": newKey() })],
      [`/api/rooms/${id}`, 200, { headers: { authorization: `Bearer ${token}` } }],
      [`/api/rooms/${id}`, 401],
      [`/api/rooms/${record.id}`, 404, { headers: { authorization: `Bearer ${token}` } }],
    ]
    for (const [path, status, init] of cases) {
      yield* ask(`${url}${path}`, init)
      const again = yield* ask(`${url}${path}`, init)
      const routed = yield* ask(`http://127.0.0.1:${port}${path}`, init)
      assert.strictEqual(again.status, status, path)
      assert.deepStrictEqual(saidBy(again), saidBy(routed), path)
    }
  })

  it.effect("costs one database query for its key, whatever the request becomes", function* () {
    const { url } = yield* TestServer
    const { key } = yield* buy()
    const asked = Effect.fnUntraced(function* (path: string, key: string) {
      const before = lookups
      const body = { commitment: newCommitment() }
      const { status } = yield* ask(`${url}${path}`, post(body, { "idempotency-key": key }))
      return [status, lookups - before]
    })
    // Spelled otherwise, it is not known yet.
    for (const path of ["/api/%77itness", "/api/witness"]) {
      assert.deepStrictEqual(yield* asked(path, key), [409, 1])
      assert.deepStrictEqual(yield* asked(path, newKey()), [402, 1])
    }
  })
})
