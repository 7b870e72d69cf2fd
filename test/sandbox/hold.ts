// Holds a chain (`hold.ts chain <stateFile>`) or a database (`hold.ts database <dataDir>`) until it is killed.
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { PgClient } from "@effect/sql-pg"
import { Console, Effect, Layer } from "effect"
import { LocalChain } from "../../src/sandbox/LocalChain.ts"
import { LocalDatabase } from "../../src/sandbox/LocalDatabase.ts"

const [kind, place = ""] = process.argv.slice(2)
const payer = "0x00000000000000000000000000000000000000aa"

const chain = Effect.gen(function* () {
  const chain = yield* LocalChain
  yield* chain.fund(payer, 7n)
  yield* Console.log("holding")
  return yield* Effect.never
}).pipe(Effect.provide(LocalChain.layer({ network: "eip155:84532", stateFile: place })))

const database = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  yield* sql`CREATE TABLE kept (n int)`
  yield* sql`INSERT INTO kept VALUES (7)`
  yield* Console.log("holding")
  return yield* Effect.never
}).pipe(
  Effect.provide(
    Layer.unwrap(Effect.map(LocalDatabase, ({ url }) => PgClient.layer({ url }))).pipe(
      Layer.provide(LocalDatabase.layer({ dataDir: place, durable: false })),
    ),
  ),
)

if (kind === "chain") NodeRuntime.runMain(chain)
else NodeRuntime.runMain(database)
