/** `migrate`: the tables of this version, for servers whose role does not own them. */
import { Effect, Logger } from "effect"
import * as DatabaseSettings from "../../platform/DatabaseSettings.ts"
import * as Migrator from "../../platform/Migrator.ts"
import * as Sql from "../../platform/Sql.ts"
import { databaseUrl } from "../../server/config/Config.ts"
import { helpOf, sufficient } from "../../server/config/Table.ts"
import { CommandFailure } from "../CommandFailure.ts"
import { ungranted } from "../Database.ts"
import { command } from "../Define.ts"
import { print } from "../Output.ts"

const writable = Effect.flatMap(DatabaseSettings.unsellable, (message) =>
  message === undefined ? Effect.void : Effect.fail(new CommandFailure({ message })),
)

export const migrate = command("migrate", {
  description: `Make or change the tables for this version, without serving. A server does the same at its start, if its role owns them. The database is that of DATABASE_URL:\n${helpOf([sufficient.databaseUrl])}`,
  examples: { "DATABASE_URL=postgres://altar_owner:… spirit-altar migrate": "Migrate as the owner of the tables" },
  flags: {},
  run: Effect.fnUntraced(function* () {
    const url = yield* databaseUrl
    const migrations = yield* Effect.andThen(writable, Migrator.run(Migrator.all)).pipe(
      Effect.provide(Sql.layer(url, 1, true)),
      Effect.catchCause((cause) => ungranted(cause, url)),
      Effect.provideService(Logger.LogToStderr, true),
    )
    yield* print(
      { ok: true, migrations },
      migrations.length === 0 ? "The tables are those of this version." : `Migrated: ${migrations.join(", ")}.`,
    )
  }),
})
