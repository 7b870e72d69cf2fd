/** Clients that are slow, many, or both: each has a deadline and a place, and a slower client is disconnected. */
import { assert, describe, it } from "../lab/It.ts"
import { Context, Duration, Effect, Latch, Layer } from "effect"
import { HttpRouter, HttpServer, HttpServerResponse } from "effect/http"
import * as Listener from "../../src/http/Listener.ts"
import { notNow } from "../../src/server/NotNow.ts"
import { type Connection, openConnection } from "../lab/Connection.ts"
import { exampleOf } from "../lab/Sources.ts"
import { patience } from "../lab/Patience.ts"

/** More than two kernels keep for one connection. */
const long = new Uint8Array(64 * 1_048_576)

const medium = new Uint8Array(65_536)
let counted = 0
let held = 0
const gate = Latch.makeUnsafe()

const short = "GET /short HTTP/1.1\r\nhost: a\r\n\r\n"

const routes = Layer.mergeAll(
  HttpRouter.add(
    "GET",
    "/counted",
    Effect.sync(() => ((counted += 1), HttpServerResponse.uint8Array(medium))),
  ),
  HttpRouter.add(
    "GET",
    "/held",
    Effect.andThen(
      Effect.sync(() => (held += 1)),
      Effect.as(gate.await, HttpServerResponse.text("released")),
    ),
  ),
  HttpRouter.add("GET", "/long", Effect.succeed(HttpServerResponse.uint8Array(long))),
  HttpRouter.add("GET", "/short", Effect.succeed(HttpServerResponse.text("short"))),
  HttpRouter.add("POST", "/body", (request) => Effect.as(Effect.orDie(request.text), HttpServerResponse.text("read"))),
)

const serving = Effect.fnUntraced(function* (within: Partial<Listener.ListenerLimits>) {
  const built = yield* Layer.build(
    Listener.drained.pipe(
      Layer.provide(HttpRouter.serve(routes, { disableLogger: true, disableListenLog: true })),
      Layer.provideMerge(
        Listener.layer({ host: "127.0.0.1", port: 0 }, notNow, { ...Listener.defaultLimits, ...within }),
      ),
    ),
  )
  const url = HttpServer.formatAddress(Context.get(built, HttpServer.HttpServer).address)
  const port = Number(new URL(url).port)
  return { port, client: yield* openConnection(port) }
})

/** A client that does not read does not notice the disconnection; the one that waits for its place does. */
const placeFound = Effect.fnUntraced(function* (port: number) {
  const one = yield* openConnection(port)
  one.socket.write(short.replace("host", "connection: close\r\nhost"))
  return (yield* one.closed).includes("short")
}, Effect.scoped)

/** Sends without an end, and returns all that it received until the server disconnected. */
const dripping = ({ closed, socket }: Connection, drop: string) =>
  Effect.acquireUseRelease(
    Effect.sync(() => setInterval(() => socket.write(drop), 200)),
    () => closed,
    (drip) => Effect.sync(() => clearInterval(drip)),
  )

it("the deadlines and limits are those of the manual, whose proxies end their connections first", () => {
  const { quiet, rest, ...counts } = Listener.defaultLimits
  assert.deepStrictEqual(counts, { connections: 4096, pipelined: 32 })
  assert.deepStrictEqual([quiet, rest, Listener.grace].map(Duration.toSeconds), [120, 65, 10])
  for (const [proxy, setting] of [
    ["upstream altar", /^ +keepalive_timeout (\d+)s;$/mu],
    ["altar.example {", /^ +keepalive (\d+)s$/mu],
  ] as const)
    assert.isBelow(
      Number(setting.exec(exampleOf("docs/operating.md", proxy))?.[1]),
      Duration.toSeconds(rest) - 5,
      proxy,
    )
})

describe("a slow client", { concurrent: true, timeout: patience(120) }, () => {
  it.live("that stops reading its answer is disconnected after the quiet time", function* () {
    const { client: reader, port } = yield* serving({ connections: 1, quiet: Duration.seconds(1) })
    reader.socket.write("GET /long HTTP/1.1\r\nhost: a\r\n\r\n")
    yield* reader.hears("HTTP/1.1 200")
    reader.socket.pause()
    yield* Effect.repeat(placeFound(port), { until: (found) => found })
    reader.socket.resume()
    const heard = yield* reader.closed
    assert.isBelow(heard.length, long.byteLength, "it was not sent to the end")
  })

  it.live("that keeps reading gets its whole answer, however long it takes", function* () {
    const { client: reader } = yield* serving({ quiet: Duration.seconds(10) })
    const began = performance.now()
    let taken = 0
    reader.socket.on("data", (text: string) => {
      taken += text.length
      if (taken > 16 * 1_048_576) return
      reader.socket.pause()
      setTimeout(() => reader.socket.resume(), 50)
    })
    reader.socket.write("GET /long HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n")
    assert.isAtLeast((yield* reader.closed).length, long.byteLength)
    assert.isAtLeast(performance.now() - began, 10_000)
  })

  const post = "POST /body HTTP/1.1\r\nhost: a\r\n"
  it.live.each([
    { what: "a body of known length", sent: `${post}content-length: 100000\r\n\r\n`, drop: "a", seconds: 30 },
    { what: "a body in chunks", sent: `${post}transfer-encoding: chunked\r\n\r\n`, drop: "1\r\na\r\n", seconds: 30 },
    { what: "a head", sent: "GET /short HTTP/1.1\r\nx: ", drop: "a", seconds: 10 },
    { what: "a second head", sent: `${short}GET /short HTTP/1.1\r\nx: `, drop: "a", seconds: 10 },
    { what: "nothing", sent: "", drop: "", seconds: 10 },
  ])("that sends $what gets 408 after $seconds seconds, however many bytes trickle in", function* (one) {
    const { client } = yield* serving({})
    client.socket.write(one.sent)
    const began = performance.now()
    assert.match(yield* dripping(client, one.drop), /^(?:HTTP\/1\.1 200 .*)?HTTP\/1\.1 408 /su)
    assert.isAtLeast(performance.now() - began, one.seconds * 1_000 - 1_000)
  })

  it.live("that rests too long finds its connection closed", function* () {
    const { client: rester } = yield* serving({ rest: Duration.millis(10) })
    rester.socket.write(short)
    assert.match(yield* rester.closed, /^HTTP\/1\.1 200 .*short$/su)
  })
})

describe("a pipelining connection", () => {
  const ask = "GET /counted HTTP/1.1\r\nhost: a\r\n\r\n"

  it.live("gets its answers to 32 requests", function* () {
    const { client: sender } = yield* serving({})
    sender.socket.write(ask.repeat(31) + ask.replace("host", "connection: close\r\nhost"))
    assert.lengthOf((yield* sender.closed).match(/HTTP\/1\.1 200 /gu) ?? [], 32)
  })

  it.live("has no request started before the answer to the one before has left", function* () {
    const { client: reader, port } = yield* serving({})
    counted = 0
    reader.socket.write("GET /long HTTP/1.1\r\nhost: a\r\n\r\n" + ask.repeat(5))
    yield* Effect.callback<void>((resume) => {
      reader.socket.once("data", () => resume(Effect.sync(() => reader.socket.pause())))
    })
    assert.isTrue(yield* placeFound(port))
    assert.strictEqual(counted, 0)
    reader.socket.resume()
    yield* Effect.repeat(Effect.sleep("10 millis"), { until: () => counted === 5 })
  })

  it.live("is closed above 32 requests, with no more than 32 started", function* () {
    const { client: sender, port } = yield* serving({})
    counted = 0
    sender.socket.write(ask.repeat(1_000))
    yield* sender.closed
    assert.isAtLeast(counted, 1)
    assert.isAtMost(counted, 32)
    assert.isTrue(yield* placeFound(port))
  })

  it.live.each([
    { form: "without a host", strange: "GET /short HTTP/1.1\r\n\r\n", status: 400 },
    { form: "with an expectation", strange: "GET /short HTTP/1.1\r\nhost: a\r\nexpect: tea\r\n\r\n", status: 417 },
  ])("is closed when those beyond 32 are $form, which Node answers by itself", ({ status, strange }) =>
    Effect.gen(function* () {
      const { client: within, port } = yield* serving({ connections: 1 })
      within.socket.write(ask + strange.repeat(30) + ask.replace("host", "connection: close\r\nhost"))
      assert.include(yield* within.closed, `HTTP/1.1 ${status} `)
      const beyond = yield* openConnection(port)
      beyond.socket.write("GET /long HTTP/1.1\r\nhost: a\r\n\r\n")
      yield* beyond.hears("HTTP/1.1 200")
      beyond.socket.pause()
      beyond.socket.write(strange.repeat(32))
      yield* Effect.repeat(placeFound(port), { until: (found) => found })
    }).pipe(Effect.scoped),
  )
})

describe("a request head above the limit", () => {
  it.live("is rejected at 32 KB and its connection closed, and one below is served", function* () {
    const { client: sender } = yield* serving({})
    const head = (length: number) => short.replace("host", `x: ${"x".repeat(length)}\r\nhost`)
    sender.socket.write(head(32_000))
    yield* sender.hears("short")
    sender.socket.write(head(33_000))
    assert.match(yield* sender.closed, /^HTTP\/1\.1 200 .*HTTP\/1\.1 431 /su)
  })
})

describe("beyond the maximum of connections", () => {
  const upload = "POST /body HTTP/1.1\r\nhost: a\r\ncontent-length: 4\r\n\r\n"

  const keepBusy = Effect.fnUntraced(function* (connection: Connection) {
    const before = held
    yield* connection.write(short.replace("short", "held"))
    yield* Effect.repeat(Effect.sleep("10 millis"), { until: () => held > before })
  })

  it.live("a new one closes the one that has rested longest", function* () {
    const { client: first, port } = yield* serving({ connections: 4 })
    const [second, third, fourth] = [
      yield* openConnection(port),
      yield* openConnection(port),
      yield* openConnection(port),
    ]
    for (const one of [first, second, third, fourth, first]) assert.include(yield* one.ask(short), "200 OK")
    // Part of a head is no request.
    yield* second.write("GET /short HTTP/1.1\r\nx: ")
    for (const resting of [second, third, fourth]) {
      const newest = yield* openConnection(port)
      assert.include(yield* newest.ask(short), "200 OK")
      yield* resting.closed
    }
    assert.include(yield* first.ask(short), "200 OK")
  })

  it.live("busy ones stay, and a new one is closed unread only while all are busy", function* () {
    const { client: first, port } = yield* serving({ connections: 3 })
    yield* keepBusy(first)
    const flood = yield* Effect.forEach(Array.from({ length: 50 }), () => openConnection(port))
    for (const idle of flood.slice(0, -2)) assert.strictEqual(yield* idle.closed, "")
    const [second, third] = yield* Effect.forEach(Array.from({ length: 2 }), () => openConnection(port))
    if (second === undefined || third === undefined) return assert.fail("there are two")
    yield* keepBusy(second)
    yield* keepBusy(third)
    for (const _ of [1, 2, 3]) assert.strictEqual(yield* (yield* openConnection(port)).closed, "")
    yield* gate.open
    for (const busy of [first, second, third]) yield* busy.hears("released")
    assert.isTrue(yield* placeFound(port))
  })

  it.live("one that waits for a body gives way after all idle ones", function* () {
    const { client: uploading, port } = yield* serving({ connections: 2 })
    yield* uploading.write(upload)
    const [idle, next] = [yield* openConnection(port), yield* openConnection(port)]
    assert.strictEqual(yield* idle.closed, "")
    yield* uploading.write("body")
    yield* uploading.hears("read")
    yield* next.write("GET /long HTTP/1.1\r\nhost: a\r\n\r\n")
    yield* next.hears("HTTP/1.1 200")
    next.socket.pause()
    yield* uploading.write(upload)
    assert.isTrue(yield* placeFound(port))
    assert.match(yield* uploading.closed, /^HTTP\/1\.1 200 .*read$/su)
  })

  it.live("4,096 idle ones of one address leave room for others", function* () {
    const { client: first, port } = yield* serving({})
    const many = Array.from({ length: Listener.defaultLimits.connections })
    yield* Effect.forEach(many, () => openConnection(port), { concurrency: 128, discard: true })
    yield* first.closed
    assert.isTrue(yield* placeFound(port))
  })
})
