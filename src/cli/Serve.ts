/** `serve`: the production server, configured by its environment alone. */
import { Config, ConfigProvider, Console, Effect, Layer, Logger, References } from "effect"
import { Command } from "effect/cli"
import { AppConfig, production, variables } from "../Config.ts"
import * as Server from "../Server.ts"

/** JSON lines on stdout, at the level that `LOG_LEVEL` names. */
export const logging = Layer.mergeAll(
  Logger.layer([Logger.consoleJson]),
  Layer.effect(References.MinimumLogLevel, Config.LogLevel("LOG_LEVEL").pipe(Config.withDefault("Info" as const))),
)

const listening = Layer.effectDiscard(
  Effect.gen(function* () {
    const { payments, publicUrl } = yield* AppConfig
    const missing = "length" in payments ? ` Payments are not configured: ${payments.join(", ")}.` : ""
    yield* Console.log(`Listening on ${publicUrl}.${missing}`)
  }),
)

const help = variables.map(([name, meaning]) => `  ${name}: ${meaning}`).join("\n")

export const serve = Command.make("serve", {}, () =>
  Layer.launch(
    listening.pipe(
      Layer.provide(Server.layer(Layer.empty)),
      Layer.provide(Layer.effect(AppConfig, production)),
      Layer.provide(logging),
    ),
  ).pipe(Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromEnv())),
).pipe(
  Command.withDescription(`Run the production server. Every value comes from the environment:\n${help}`),
  Command.withExamples([
    {
      command: "DATABASE_URL=postgres://… PAY_TO=0x… RPC_URL=https://… RELAYER_KEY=0x… npm run serve",
      description: "Serve with our own settlement",
    },
    {
      command: "DATABASE_URL=postgres://… npm run serve",
      description: "Serve the free routes; paid ones answer 503 payments_unavailable",
    },
  ]),
)
