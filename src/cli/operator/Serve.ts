/** `serve`: the production server, configured by its environment alone. */
import { Effect, Layer, Schedule } from "effect"
import { helpOf, serving as variables } from "../../server/config/Table.ts"
import { command, on } from "../Define.ts"
import { HttpServer } from "effect/http"
import { AppConfig, databaseUrl, production, telemetry } from "../../server/config/Config.ts"
import { advice, withUnknown } from "../../server/config/Advice.ts"
import { ungranted } from "../Database.ts"
import { checking } from "./Check.ts"
import * as Sql from "../../platform/Sql.ts"
import * as Server from "../../server/Server.ts"
import * as Telemetry from "../../telemetry/Telemetry.ts"
import { lasting } from "../../platform/Lasting.ts"
import { log } from "../../platform/LogMessages.ts"

const check = on(
  "check",
  "Check database, chain, token, relayer or facilitator once, and exit without serving; exit code 1 at the first fault",
)

/** Gives back the memory that only the start needed, a fifth of the process, where Node runs with `--expose-gc`. */
const trimMemory = Effect.sync(() => globalThis.gc?.({ type: "major", execution: "sync", flavor: "last-resort" }))

const listening = Layer.effectDiscard(
  Effect.gen(function* () {
    const { payments, publicUrl } = yield* AppConfig
    const address = HttpServer.formatAddress((yield* HttpServer.HttpServer).address)
    for (const sentence of yield* advice) yield* log("configuration advice", { advice: sentence })
    yield* log("server listening", {
      address,
      publicUrl,
      paymentsNotConfigured: "length" in payments ? payments.join(", ") : undefined,
    })
    yield* trimMemory
  }),
)

const server = listening.pipe(
  Layer.provide(Server.layer(Layer.empty)),
  Layer.provide(Layer.effect(AppConfig, production)),
)

const loss = lasting()

/**
 * Runs until stopped. A database that becomes unavailable during the start is waited for. A role that lacks a privilege
 * to migrate or read is told so in one sentence.
 */
const launched = Layer.launch(server).pipe(
  Effect.sandbox,
  Effect.tapError((cause) =>
    Sql.isAway(cause) ? loss.goesOn("", log("database lost during start", {}, cause)) : Effect.void,
  ),
  Effect.retry({ while: Sql.isAway, schedule: Schedule.spaced("1 second") }),
  Effect.catch((cause) => Effect.flatMap(databaseUrl, (url) => ungranted(cause, url))),
)

const serving = withUnknown(production).pipe(
  Effect.andThen(Effect.provide(launched, Layer.unwrap(Effect.map(telemetry("json"), Telemetry.layer)))),
)

export const serve = command("serve", {
  description: `Run the production server. Every value comes from the environment:\n${helpOf(variables)}`,
  examples: {
    "DATABASE_URL=postgres://… PAY_TO=0x… RPC_URL=https://… RELAYER_KEY=0x… npm run serve":
      "Serve with our own settlement",
    "npm run serve -- --check": "Check this environment, and name its faults",
    "DATABASE_URL=postgres://… npm run serve": "Serve the free routes; paid ones answer 503 payments_unavailable",
  },
  flags: { check },
  run: Effect.fnUntraced(function* ({ check }) {
    return check ? yield* checking : yield* serving
  }),
})
