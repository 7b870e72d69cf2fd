/** The production server until it is stopped; loaded only when it is asked for. */
import { ConfigProvider, Effect, Layer } from "effect"
import { HttpServer } from "effect/http"
import { AppConfig, production } from "../Config.ts"
import { adviceFor } from "../EnvironmentAdvice.ts"
import { givenEnvironment } from "./Environment.ts"
import { exitsCleanly } from "./ExitCode.ts"
import * as Server from "../Server.ts"
import * as Telemetry from "../telemetry/Telemetry.ts"

const listening = Layer.effectDiscard(
  Effect.gen(function* () {
    const { payments, publicUrl } = yield* AppConfig
    const bound = HttpServer.formatAddress((yield* HttpServer.HttpServer).address)
    const known = bound === publicUrl ? "" : ` (public: ${publicUrl})`
    const missing = "length" in payments ? ` Payments are not configured: ${payments.join(", ")}.` : ""
    for (const advice of adviceFor(process.env)) yield* Effect.logWarning(advice)
    yield* Effect.logInfo(`Listening on ${bound}${known}.${missing}`)
  }),
)

export const serving = Effect.andThen(
  exitsCleanly,
  Layer.launch(
    listening.pipe(
      Layer.provide(Server.layer(Layer.empty)),
      Layer.provide(Layer.effect(AppConfig, production)),
      Layer.provide(Telemetry.fromConfig),
    ),
  ),
).pipe(Effect.provideService(ConfigProvider.ConfigProvider, givenEnvironment()))
