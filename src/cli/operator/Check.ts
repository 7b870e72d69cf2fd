/** `serve --check`: tests each external dependency of a server once and prints a line for each. */
import { Clock, type Config, ConfigProvider, Console, Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import type { PaymentsConfig } from "../../payments/Payments.ts"
import { production } from "../../server/config/Config.ts"
import { adviceFor } from "../../server/config/Advice.ts"
import * as DatabaseSettings from "../../platform/DatabaseSettings.ts"
import * as Sql from "../../platform/Sql.ts"
import * as Facilitator from "../../payments/settle/Facilitator.ts"
import { givenEnvironment } from "../Environment.ts"
import { CommandFailure } from "../CommandFailure.ts"

import { checkChain } from "./CheckChain.ts"
import { failed, type CheckResult, runCheck, ok, checkTimeout, skewLine, warning } from "./CheckResult.ts"

const databaseLines = (url: Redacted.Redacted<string>) => {
  const secrets = [Redacted.value(url), URL.parse(Redacted.value(url))?.password ?? ""].filter((one) => one !== "")
  const asked = Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const [row] = yield* sql<{ readonly version: string; readonly now: Date }>`
      SELECT current_setting('server_version') AS version, clock_timestamp() AS now`
    const here = yield* Clock.currentTimeMillis
    const unsellable = yield* DatabaseSettings.unsellable
    return { version: row?.version ?? "", skew: (here - (row?.now.getTime() ?? here)) / 1000, unsellable }
  }).pipe(Effect.provide(Sql.layer(url, 1)), Effect.scoped)
  return Effect.gen(function* () {
    const answered = yield* Effect.exit(Effect.timeout(asked, checkTimeout))
    if (answered._tag === "Failure") return [yield* runCheck("database", secrets, Effect.failCause(answered.cause))]
    const { skew, unsellable, version } = answered.value
    const usable =
      unsellable === undefined ? ok("database", `PostgreSQL ${version} answers`) : failed("database", unsellable)
    return [usable, skewLine("clock", skew, "the database")]
  })
}

const facilitatorLines = ({ settlement, terms }: PaymentsConfig) => {
  if (settlement._tag !== "Facilitator") return Effect.succeed([])
  const { host } = new URL(settlement.url)
  return Effect.map(
    runCheck(
      "facilitator",
      [],
      Facilitator.supported(settlement, terms.network).pipe(
        Effect.flatMap((ask) => ask),
        Effect.andThen(Facilitator.unredirected(settlement)),
        Effect.as(ok("facilitator", `${host} settles exact payments on ${terms.network}`)),
        Effect.scoped,
      ),
    ),
    (one) => [one],
  )
}

const advised = (message: string) => warning("configuration", message)

const configured = Effect.gen(function* () {
  const config = yield* production
  const advice = adviceFor(process.env).map(advised)
  const { payments } = config
  if ("length" in payments) {
    const missing = `paid routes are off: ${payments.join(", ")} ${payments.length === 1 ? "is" : "are"} not set`
    const unsold: CheckResult = { check: "payments", state: "skipped", message: missing }
    return [
      ok("configuration", "every value can be read"),
      ...advice,
      ...(yield* databaseLines(config.databaseUrl)),
      unsold,
    ]
  }
  const [database, chain, facilitator] = yield* Effect.all(
    [databaseLines(config.databaseUrl), checkChain(payments), facilitatorLines(payments)],
    { concurrency: "unbounded" },
  )
  return [ok("configuration", "every value can be read"), ...advice, ...database, ...chain, ...facilitator]
})

/** A table, or one JSON document; fails when a line failed. */
export const checking = Effect.fn("checking")(
  function* (isJson: boolean) {
    const lines = yield* Effect.catch(configured, (error: Config.ConfigError) =>
      Effect.succeed([
        ...error.cause.message.split("\n").map((message) => failed("configuration", message)),
        ...adviceFor(process.env).map(advised),
      ]),
    )
    const wrong = lines.filter(({ state }) => state === "failed").length
    if (isJson) yield* Console.log(JSON.stringify({ ok: wrong === 0, checks: lines }))
    else
      for (const { check, message, state } of lines)
        yield* Console.log(`${check.padEnd(14)} ${state.padEnd(8)} ${message}`)
    if (wrong > 0) return yield* new CommandFailure({ message: `${wrong} of ${lines.length} checks failed.` })
  },
  Effect.provideService(ConfigProvider.ConfigProvider, givenEnvironment()),
)
