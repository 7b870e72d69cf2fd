/** The environment's database for `admin`, with the administration services; failures are one sentence. */
import { type Cause, Console, Effect, Layer, Redacted, Schema } from "effect"
import { Flag } from "effect/cli"
import type { SqlClient } from "effect/sql"
import { Administration } from "../../admin/Administration.ts"
import { Moderation } from "../../altar/Moderation.ts"
import { WitnessChain } from "../../altar/witness/WitnessChain.ts"
import { Refunds } from "../../payments/store/Refunds.ts"
import { Selling } from "../../payments/Availability.ts"
import * as DatabaseSettings from "../../platform/DatabaseSettings.ts"
import * as Sql from "../../platform/Sql.ts"
import { databaseUrl } from "../../server/config/Config.ts"
import { helpOf, sufficient } from "../../server/config/Table.ts"
import { codeOf, CommandFailure } from "../CommandFailure.ts"

export interface DatabaseFlags {
  readonly json: boolean
}

export const database = `The database is that of DATABASE_URL:\n${helpOf([sufficient.databaseUrl])}`

export const limit = Flag.Int("limit").pipe(
  Flag.filter(
    (rows) => rows >= 1 && rows <= 10_000,
    (rows) => `${rows} is no limit; write a whole number from 1 to 10000`,
  ),
  Flag.withDescription("How many at most, 1 to 10000 (50)"),
  Flag.withDefault(50),
)

const services = Administration.layer.pipe(
  Layer.provideMerge(Layer.mergeAll(Selling.layer, Moderation.layer, WitnessChain.layer, Refunds.layer)),
)

/** PostgreSQL's code for an undefined table. */
const noTable = "42P01"

const unmigrated = "This database was not migrated by this version: start a server of this version on it first."

/** Reports a failure as one sentence, or as JSON on request. */
export const explained = <A, E, R>({ json }: DatabaseFlags, doing: Effect.Effect<A, E, R>) =>
  Effect.tapError(doing, (error) =>
    json && Schema.is(Schema.Struct({ message: Schema.String }))(error)
      ? Console.log(JSON.stringify({ ok: false, code: "trouble", message: error.message }))
      : Effect.void,
  )

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

export const run = <A, E, R = never>(
  asked: DatabaseFlags,
  use: Effect.Effect<A, E, Administration | Refunds | WitnessChain | SqlClient.SqlClient | R>,
) =>
  explained(
    asked,
    Effect.flatMap(databaseUrl, (url) =>
      Effect.catchCause(
        Effect.provide(Effect.andThen(usable, use), services.pipe(Layer.provideMerge(Sql.layer(url, 2)))),
        (cause) => ungranted(cause, url),
      ),
    ).pipe(
      Effect.mapError((error) => (codeOf(error) === noTable ? new CommandFailure({ message: unmigrated }) : error)),
    ),
  )
