/** Hostile requests of a seed, asked twice: a URL that is known is answered as the router answers it, to the byte. */
import { Effect, Layer } from "effect"
import { Statement } from "effect/sql"
import { AppConfig } from "../../src/server/config/Config.ts"
import { urlMaximum } from "../../src/http/UrlCache.ts"
import * as Server from "../../src/server/Server.ts"
import { type Answer, answersIn, bodyOf, exchange } from "../lab/hostile/Exchange.ts"
import { volley } from "../lab/hostile/Requests.ts"
import { patience } from "../lab/Patience.ts"
import { freePort } from "../lab/Ports.ts"
import { random } from "../lab/Random.ts"
import { loopback, newRoom } from "../lab/server/Rooms.ts"
import { ask, bought, layer as world, newCommitment, newKey, post } from "../lab/Fixture.ts"
import { assert, suite } from "../lab/Suites.ts"

const headers = `content-type content-encoding content-length etag cache-control vary allow www-authenticate link
  access-control-allow-origin payment-required payment-response idempotent-replayed content-security-policy`.split(
  /\s+/u,
)

/** The whole answer, but for times and what is new in each. */
const saidBy = (answer: Answer) => {
  const isNew = answer.status === 201 || answer.status === 202
  const body = bodyOf(answer)
    .replaceAll(/"(?:serverTime|requestId)":"[^"]*"/gu, "")
    .replaceAll(/\d+ (?:second|minute)s?/gu, "")
  return {
    status: answer.status,
    headers: headers.map((name) => (isNew && name === "content-length" ? "" : answer.headers.get(name))),
    body: isNew ? Object.keys(JSON.parse(body)) : body,
  }
}

let lookups = 0

/** Counts the statements that look a key up. */
const counting = Layer.succeed(Statement.CurrentTransformer, (statement) => {
  if (statement.compile()[0].includes("payment_claims WHERE name = n.name")) lookups += 1
  return Effect.succeed(statement)
})

const fixture = world({}, undefined, { trustedProxies: loopback }).pipe(Layer.provide(counting))

suite("a repeated URL", fixture, (it) => {
  it("is answered as the router answers it", function* ({ url }) {
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
    const { record } = yield* bought("/api/witness", { commitment: newCommitment() })
    const known = { ids: [record.id], rooms: [yield* newRoom(url), yield* newRoom(url)] }
    const chance = random("known URLs")
    const statuses = new Map<number, number>()
    for (let turn = 0; turn < 600; turn += 1) {
      const { bytes, expected, isBroken } = volley(chance, known)
      if (isBroken || expected.some(({ isTooLong }) => isTooLong)) continue
      // Each has an address of its own, so that no limit stands in the way.
      let nth = 0
      const address = () => `x-forwarded-for: 10.${turn >> 8}.${turn & 255}.${(nth += 1)}`
      const sent = Buffer.from(bytes.toString("latin1").replaceAll(/x-forwarded-for: \S+/gu, address), "latin1")
      const methods = expected.map(({ method }) => method)
      const send = (to: number) =>
        Effect.map(
          Effect.promise(() => exchange(to, sent, patience(30))),
          (came) => answersIn(came, methods),
        )
      yield* send(config.port)
      const again = yield* send(config.port)
      assert.deepStrictEqual(again.map(saidBy), (yield* send(port)).map(saidBy), sent.toString("latin1").slice(0, 600))
      for (const { status } of again) statuses.set(status, (statuses.get(status) ?? 0) + 1)
    }
    for (const status of [200, 201, 304, 400, 401, 402, 404, 405, 409, 413, 415])
      assert.isAbove(statuses.get(status) ?? 0, 0, String(status))
  })

  it("costs one database query for its key, whatever the request becomes", function* ({ url }) {
    const { key } = yield* bought("/api/witness", { commitment: newCommitment() })
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
