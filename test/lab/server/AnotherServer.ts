/** Another server in this process on the same database and chain, as behind a balancer. */
import { Effect, Layer } from "effect"
import type { PaymentsConfig } from "../../../src/payments/Payments.ts"
import { AppConfig, type ServerConfig } from "../../../src/server/config/Config.ts"
import * as Server from "../../../src/server/Server.ts"
import { configOf, TestServer } from "../Fixture.ts"

/** A server that runs until the scope ends, and its configuration. It shares no connection and no service. */
export const serverWith = Effect.fnUntraced(function* <E, R>(
  change: Partial<PaymentsConfig>,
  server: Partial<ServerConfig>,
  routes: Layer.Layer<never, E, R>,
) {
  const config = yield* configOf(change, server)
  yield* Layer.build(Layer.fresh(Server.layer(routes).pipe(Layer.provide(Layer.succeed(AppConfig, config)))))
  return config
})

/** Its own URL; its public URL is the first server's. */
export const anotherServer = Effect.fnUntraced(function* (
  change: Partial<PaymentsConfig> = {},
  server: Partial<ServerConfig> = {},
) {
  const { url } = yield* TestServer
  const { port } = yield* serverWith(change, { publicUrl: url, ...server }, Layer.empty)
  return `http://127.0.0.1:${port}`
})
