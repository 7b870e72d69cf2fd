/** Another server in this process on the same database and chain, as behind a balancer. */
import { Effect, Layer } from "effect"
import type { PaymentsConfig } from "../../../src/payments/Payments.ts"
import { AppConfig, type ServerConfig } from "../../../src/server/config/Config.ts"
import * as Server from "../../../src/server/Server.ts"
import { configOf, TestServer } from "../Fixture.ts"

/** Its own URL; its public URL is the first server's. The two share no connection and no service. */
export const anotherServer = Effect.fnUntraced(function* (
  change: Partial<PaymentsConfig> = {},
  server: Partial<ServerConfig> = {},
) {
  const { url } = yield* TestServer
  const config = yield* configOf(change, { publicUrl: url, ...server })
  yield* Layer.build(Layer.fresh(Server.layer(Layer.empty).pipe(Layer.provide(Layer.succeed(AppConfig, config)))))
  return `http://127.0.0.1:${config.port}`
})
