/** Clients that are slow, many, or both: each has its time and its place, and whoever takes more is hung up on. */
import type { Socket } from "node:net"
import { connect } from "node:net"
import { assert, describe, it } from "@effect/vitest"
import { Context, Duration, Effect, Layer } from "effect"
import { HttpRouter, HttpServer, HttpServerResponse } from "effect/http"
import * as Listener from "../../src/platform/http/Listener.ts"
import { patience } from "../support/Patience.ts"

/** More than two kernels keep for one connection. */
const long = new Uint8Array(64 * 1_048_576)

const routes = Layer.mergeAll(
  HttpRouter.add("GET", "/long", Effect.succeed(HttpServerResponse.uint8Array(long))),
  HttpRouter.add("GET", "/short", Effect.succeed(HttpServerResponse.text("short"))),
  HttpRouter.add("POST", "/body", (request) => Effect.as(Effect.orDie(request.text), HttpServerResponse.text("read"))),
)

const serving = Effect.fnUntraced(function* (within: Partial<Listener.Bounds>) {
  const built = yield* Layer.build(
    Listener.drained.pipe(
      Layer.provide(HttpRouter.serve(routes, { disableLogger: true, disableListenLog: true })),
      Layer.provideMerge(Listener.layer({ host: "127.0.0.1", port: 0 }, undefined, { ...Listener.bounds, ...within })),
    ),
  )
  const url = HttpServer.formatAddress(Context.get(built, HttpServer.HttpServer).address)
  return Number(new URL(url).port)
})

interface Client {
  readonly socket: Socket
  /** All that came, once the other side has hung up. */
  readonly closed: Effect.Effect<string>
  readonly hears: (text: string) => Effect.Effect<void>
}

const client = (port: number) =>
  Effect.acquireRelease(
    Effect.sync((): Client => {
      const socket = connect(port, "127.0.0.1")
      let heard = ""
      socket.setEncoding("latin1")
      socket.on("error", () => socket.destroy())
      socket.on("data", (text: string) => (heard += text))
      const closed = new Promise<string>((resolve) => socket.on("close", () => resolve(heard)))
      const hears = (text: string) =>
        Effect.callback<void>((resume) => {
          const look = () => {
            if (heard.includes(text)) resume(Effect.void)
          }
          socket.on("data", look)
          look()
        })
      return { socket, closed: Effect.promise(() => closed), hears }
    }),
    ({ socket }) => Effect.sync(() => socket.destroy()),
  )

describe("a client that is slow", { concurrent: true, timeout: patience(120) }, () => {
  it.live("to read its answer is hung up on once it has taken nothing for the quiet time", () =>
    Effect.gen(function* () {
      const port = yield* serving({ connections: 1, quiet: Duration.seconds(1) })
      const reader = yield* client(port)
      reader.socket.write("GET /long HTTP/1.1\r\nhost: a\r\n\r\n")
      yield* reader.hears("HTTP/1.1 200")
      reader.socket.pause()
      // Who does not read does not notice that the other side has left; whoever waits for the one place does.
      const next = Effect.gen(function* () {
        const one = yield* client(port)
        one.socket.write("GET /short HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n")
        return yield* one.closed
      })
      yield* Effect.repeat(next, { until: (heard) => heard.includes("short") })
      reader.socket.resume()
      const heard = yield* reader.closed
      assert.isBelow(heard.length, long.byteLength, "it was not sent to the end")
    }).pipe(Effect.scoped),
  )

  it.live("but goes on taking it gets the whole of it, however long that takes", () =>
    Effect.gen(function* () {
      const port = yield* serving({ quiet: Duration.seconds(1) })
      const reader = yield* client(port)
      let taken = 0
      reader.socket.on("data", (text: string) => {
        taken += text.length
        if (taken > 16 * 1_048_576) return
        reader.socket.pause()
        setTimeout(() => reader.socket.resume(), 5)
      })
      reader.socket.write("GET /long HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n")
      assert.isAtLeast((yield* reader.closed).length, long.byteLength)
    }).pipe(Effect.scoped),
  )

  it.live("to send its body is told so after half a minute, whatever it drips", () =>
    Effect.gen(function* () {
      const port = yield* serving({})
      const sender = yield* client(port)
      sender.socket.write("POST /body HTTP/1.1\r\nhost: a\r\ncontent-length: 100000\r\n\r\n")
      const drip = setInterval(() => sender.socket.write("a"), 200)
      const began = performance.now()
      const heard = yield* sender.closed
      clearInterval(drip)
      assert.match(heard, /^HTTP\/1\.1 408 /u)
      assert.isAtLeast(performance.now() - began, 29_000)
    }).pipe(Effect.scoped),
  )

  it.live("to say anything at all is told so after ten seconds", () =>
    Effect.gen(function* () {
      const port = yield* serving({})
      const silent = yield* client(port)
      assert.match(yield* silent.closed, /^HTTP\/1\.1 408 /u)
    }).pipe(Effect.scoped),
  )
})

describe("a flood of connections", { timeout: patience(60) }, () => {
  it.live("finds so many places and no more, and a place that is left is given again", () =>
    Effect.gen(function* () {
      const port = yield* serving({ connections: 8 })
      const ask = "GET /short HTTP/1.1\r\nhost: a\r\n\r\n"
      const inside = yield* Effect.forEach(Array.from({ length: 8 }), () => client(port))
      for (const one of inside) {
        one.socket.write(ask)
        yield* one.hears("short")
      }
      const outside = yield* Effect.forEach(Array.from({ length: 50 }), () => client(port))
      for (const one of outside) assert.strictEqual(yield* one.closed, "")
      for (const one of inside.slice(1)) {
        one.socket.write(ask)
        yield* one.hears("short")
      }
      inside[0]?.socket.end()
      yield* inside[0]?.closed ?? Effect.void
      const again = yield* client(port)
      again.socket.write(ask)
      yield* again.hears("short")
    }).pipe(Effect.scoped),
  )
})
