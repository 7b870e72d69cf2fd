/** Told to stop, a server ends what it has begun, begins nothing new and says so, and ends with 0. */
import { assert, describe } from "../lab/It.ts"
import { Effect, Fiber } from "effect"
import * as Purchase from "../lab/buyer/Purchase.ts"
import { openConnection } from "../lab/Connection.ts"
import { Proxies } from "../lab/TestServices.ts"
import { listening } from "../lab/server/ServerProcess.ts"
import { staged } from "../lab/server/Live.ts"

const get = "GET /api/spirits HTTP/1.1\r\nhost: altar\r\n\r\n"

/** Asks for another protocol, which nothing here speaks. */
const upgrade =
  "POST /api/nothing HTTP/1.1\r\nhost: altar\r\nconnection: Upgrade\r\nupgrade: websocket\r\ncontent-length: 0\r\n\r\n"

/** A server with a purchase in flight, whose transaction does not reach the node. */
const selling = Effect.gen(function* () {
  const server = yield* listening()
  const { rpc } = yield* Proxies
  const purchase = yield* Purchase.prepareAt(server.url)
  const trap = rpc.arm("eth_sendRawTransaction", "holdBefore")
  const buying = yield* Effect.forkScoped(Purchase.send(purchase))
  yield* trap.arrived
  return { buying, purchase, rpc, server, trap }
})

const refusedFor = (answer: string, what: string) => {
  assert.match(answer, /^HTTP\/1\.1 503 /u, what)
  assert.match(answer, /\r\nretry-after: 1\r\n/iu, what)
  assert.match(answer, /\r\naccess-control-allow-origin: \*\r\n/iu, what)
  assert.match(answer, /\r\naccess-control-expose-headers: PAYMENT-REQUIRED,.*,Retry-After,.*,X-Request-Id\r\n/iu, what)
  assert.match(answer, /\r\nconnection: close\r\n/iu, what)
  assert.match(answer, /This request did nothing\./u, what)
}

/** A page of another origin reads a refusal only where its preflight is granted. */
const preflights = Effect.fnUntraced(function* (port: number) {
  const answers = new Map<string, string>()
  for (const path of ["/api/witness", "/api/reconcile/a-key-of-a-purchase", "/mcp", "/api/rooms"]) {
    const asked = `OPTIONS ${path} HTTP/1.1\r\nhost: altar\r\norigin: https://dapp.example\r\n\r\n`
    answers.set(path, yield* Effect.scoped(Effect.flatMap(openConnection(port), (one) => one.ask(asked))))
  }
  for (const [path, answer] of answers) {
    const isOpen = !["/mcp", "/api/rooms"].includes(path)
    assert.match(answer, isOpen ? /^HTTP\/1\.1 200 /u : /^HTTP\/1\.1 503 /u, path)
    assert.strictEqual(/\r\naccess-control-allow-headers: content-type,.*,\*\r\n/iu.test(answer), isOpen, path)
    assert.strictEqual(/\r\naccess-control-allow-origin: \*\r\n/iu.test(answer), isOpen, path)
  }
})

const fresh = (port: number) => Effect.scoped(Effect.flatMap(openConnection(port), (one) => one.ask(get)))

/** The first refusal of a server that was told to stop. */
const refuses = (port: number) => Effect.repeat(fresh(port), { until: (answer) => answer.startsWith("HTTP/1.1 503") })

describe.concurrent("a server that is told to stop", () => {
  staged("completes the purchase in flight, refuses new requests on all connections, and exits with 0", function* () {
    const { buying, purchase, rpc, server, trap } = yield* selling
    const kept = yield* openConnection(server.port)
    assert.match(yield* kept.ask(get), /^HTTP\/1\.1 200 /u)
    const upgrading = yield* openConnection(server.port)
    const refusal = yield* upgrading.ask(upgrade)
    assert.match(refusal, /^HTTP\/1\.1 404 /u)
    const id = /\r\nx-request-id: (\S+)/iu.exec(refusal)?.[1] ?? "no id"
    yield* server.says(id)
    yield* server.signal("SIGTERM")
    // A request before the signal is answered normally; from the first refusal on, every request is refused.
    refusedFor(yield* refuses(server.port), "on a new connection")
    yield* preflights(server.port)
    refusedFor(yield* kept.ask(get), "on a kept one")
    refusedFor(yield* upgrading.ask(upgrade), "where another protocol is asked for")
    yield* rpc.calm
    yield* trap.release
    const answer = yield* Fiber.join(buying)
    assert.strictEqual(answer.status, 201, answer.text)
    assert.strictEqual(yield* server.ended, 0, server.output())
    assert.deepInclude(yield* Purchase.books(purchase), { charged: 1, stones: 1, state: "settled" })
  })

  staged("completes a purchase whose client is gone, whatever idle connections and half a request do", function* () {
    const { buying, purchase, rpc, server, trap } = yield* selling
    yield* Fiber.interrupt(buying)
    const idle = yield* openConnection(server.port)
    assert.match(yield* idle.ask(get), /^HTTP\/1\.1 200 /u)
    const half = yield* openConnection(server.port)
    yield* half.write("GET /api/spirits HTTP/1.1\r\nhost: al")
    yield* server.signal("SIGINT")
    // The server refuses every request: only the settlement itself holds it.
    yield* refuses(server.port)
    for (let times = 0; times < 20; times += 1) refusedFor(yield* fresh(server.port), "while it settles")
    yield* rpc.calm
    yield* trap.release
    assert.strictEqual(yield* server.ended, 0, server.output())
    yield* Effect.all([idle.closed, half.closed])
    assert.deepInclude(yield* Purchase.books(purchase), { charged: 1, stones: 1, state: "settled" })
  })

  staged("abandons work beyond the grace period, whose attempt stays pending", function* () {
    const { buying, purchase, server, trap } = yield* selling
    yield* server.signal("SIGTERM")
    assert.strictEqual(yield* server.ended, 0, server.output())
    assert.strictEqual((yield* Fiber.await(buying))._tag, "Failure", "no answer was given")
    yield* trap.discard
    assert.deepInclude(yield* Purchase.books(purchase), { charged: 0, stones: 0, state: "pending" })
  })
})
