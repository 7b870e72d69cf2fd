/** The database: connection, migrations, outage reports and clock. */
import { Layer, type Redacted } from "effect"
import { DatabaseClock } from "./DatabaseClock.ts"
import * as DatabaseWatch from "./DatabaseWatch.ts"
import * as Migrator from "./Migrator.ts"
import * as Sql from "./Sql.ts"

export const layer = (url: Redacted.Redacted<string>) =>
  Layer.merge(DatabaseClock.layer, DatabaseWatch.layer(url)).pipe(
    Layer.provide(Layer.provide(Migrator.layer, Sql.layer(url, 1, true))),
    Layer.provideMerge(Sql.layer(url)),
    Layer.provide(Layer.effectDiscard(Sql.reached(url))),
  )
