/** The environment's database for `admin` and `log`, with their services; failures are one sentence. */
import { type Cause, Effect, Layer, Redacted } from "effect"
import type { Command, GlobalFlag } from "effect/cli"
import type { SqlClient } from "effect/sql"
import { Administration } from "../admin/Administration.ts"
import { LogStore } from "../log/LogStore.ts"
import { Moderation } from "../altar/Moderation.ts"
import { WitnessChain } from "../altar/witness/WitnessChain.ts"
import { Refunds } from "../payments/store/Refunds.ts"
import { Selling } from "../payments/Availability.ts"
import * as DatabaseSettings from "../platform/DatabaseSettings.ts"
import * as Sql from "../platform/Sql.ts"
import { databaseUrl } from "../server/config/Config.ts"
import { helpOf, sufficient } from "../server/config/Table.ts"
import { codeOf, CommandFailure } from "./CommandFailure.ts"
import { command, type CommandText, type Config } from "./Define.ts"

const services = Layer.provideMerge(
  Administration.layer,
  Layer.mergeAll(Selling.layer, Moderation.layer, WitnessChain.layer, Refunds.layer, LogStore.layer),
)

type Services = Layer.Success<typeof services> | SqlClient.SqlClient | GlobalFlag.Setting.Identifier<"json">

/** The rows that a list has at most. */
export const most = 1_000

/** PostgreSQL's code for an undefined table, and the one for a column. */
export const noTable = "42P01"
const noColumn = "42703"

const unmigrated = "This database was not migrated by this version: start a server of this version on it first."

/** The same failure, but a missing privilege becomes one sentence. */
export const ungranted = <E>(
  cause: Cause.Cause<E>,
  url: Redacted.Redacted<string>,
): Effect.Effect<never, E | CommandFailure> => {
  const message = Sql.missingGrant(cause, Sql.roleOf(Redacted.value(url)))
  return message === undefined ? Effect.failCause(cause) : Effect.fail(new CommandFailure({ message: `${message}.` }))
}

const usable = Effect.flatMap(DatabaseSettings.unusable, (message) =>
  message === undefined ? Effect.void : Effect.fail(new CommandFailure({ message })),
)

/** A command on the database, which its help names, as far as this version migrated it and its role may use it. */
export const onDatabase = <const Name extends string, const Flags extends Config, E>(
  name: Name,
  spec: CommandText & {
    readonly flags: Flags
    readonly run: (given: Command.Command.Config.Infer<Flags>) => Effect.Effect<void, E, Services>
  },
) =>
  command(name, {
    ...spec,
    description: `${spec.description} The database is that of DATABASE_URL:\n${helpOf([sufficient.databaseUrl])}`,
    run: Effect.fnUntraced(function* (given) {
      const url = yield* databaseUrl
      return yield* Effect.andThen(usable, spec.run(given)).pipe(
        Effect.provide(Layer.provideMerge(services, Sql.layer(url, 2))),
        Effect.catchCause((cause) => ungranted(cause, url)),
        Effect.mapError((error) =>
          [noTable, noColumn].includes(codeOf(error)) ? new CommandFailure({ message: unmigrated }) : error,
        ),
      )
    }),
  })
