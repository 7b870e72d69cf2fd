/** Servers that do nothing but write ready bytes: what each way of serving HTTP can reach at most. */
import { createServer } from "node:http"
import { serve } from "@hono/node-server"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { Effect, Layer } from "effect"
import { HttpRouter, HttpServer, HttpServerResponse } from "effect/http"
import { Hono } from "hono"

const response = await fetch(process.env["BYTES_OF"] ?? "")
const bytes = new Uint8Array(await response.arrayBuffer())
const { pathname } = new URL(process.env["BYTES_OF"] ?? "")
const headers = { "content-type": "application/json", "content-length": String(bytes.length) }
const say = (port: number) => console.log(`Listening on http://127.0.0.1:${port}`)

const servers: Readonly<Record<string, () => unknown>> = {
  node: () => {
    const server = createServer((_, reply) => reply.writeHead(200, headers).end(bytes))
    server.listen(0, "127.0.0.1", () => {
      const address = server.address()
      if (typeof address === "object" && address !== null) say(address.port)
    })
  },
  hono: () => {
    const app = new Hono()
    app.get(pathname, (c) => c.body(bytes, 200, headers))
    serve({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" }, ({ port }) => say(port))
  },
  effect: () => {
    const route = HttpRouter.add(
      "GET",
      "/api/spirits",
      Effect.sync(() => HttpServerResponse.uint8Array(bytes, { contentType: "application/json" })),
    )
    const announced = Layer.effectDiscard(
      Effect.map(HttpServer.HttpServer, ({ address }) =>
        console.log(`Listening on ${HttpServer.formatAddress(address)}`),
      ),
    )
    return Effect.runFork(
      Layer.launch(
        Layer.merge(HttpRouter.serve(route, { disableLogger: true }), announced).pipe(
          Layer.provide(NodeHttpServer.layer(() => createServer(), { port: 0, host: "127.0.0.1" })),
        ),
      ),
    )
  },
}
servers[process.env["SERVER"] ?? ""]?.()
process.once("SIGTERM", () => process.exit(0))
