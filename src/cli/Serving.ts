/** The production server until it is stopped; loaded only when it is asked for. */
import { ConfigProvider, Effect, Layer } from "effect"
import { HttpServer } from "effect/http"
import { AppConfig, databaseUrl, production } from "../server/config/Config.ts"
import { adviceFor } from "../server/config/Advice.ts"
import { telemetry } from "../server/config/Telemetry.ts"
import { givenEnvironment } from "./Environment.ts"
import { exitsCleanly } from "./ExitCode.ts"
import { ungranted } from "./Ungranted.ts"
import * as Sql from "../platform/Sql.ts"
import * as Server from "../server/Server.ts"
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

const server = listening.pipe(
  Layer.provide(Server.layer(Layer.empty)),
  Layer.provide(Layer.effect(AppConfig, production)),
)

/** Until it is stopped. A database that leaves while a server starts is waited for, as one that was not there. */
const launched: Effect.Effect<never, Layer.Error<typeof server>, Layer.Services<typeof server>> = Effect.catchCauseIf(
  Layer.launch(server),
  Sql.isAway,
  (cause) =>
    Effect.logError("The database left while the server started, which begins again in a second", cause).pipe(
      Effect.andThen(Effect.sleep("1 second")),
      Effect.andThen(Effect.suspend(() => launched)),
    ),
)

/** A role that may not migrate, or not read what it has to, is told which grant it lacks. */
const granted = Effect.catchCause(launched, (cause) =>
  Effect.matchEffect(databaseUrl, {
    onFailure: () => Effect.failCause(cause),
    onSuccess: (url) => ungranted(cause, url),
  }),
)

export const serving = exitsCleanly.pipe(
  Effect.andThen(granted),
  Effect.provide(Layer.unwrap(Effect.map(telemetry, Telemetry.layer))),
  Effect.provideService(ConfigProvider.ConfigProvider, givenEnvironment()),
)
