/** What most tests of a payment begin with: the server, its proxies, the tests' SQL, and a signed stone. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { World } from "../Fixture.ts"
import { Proxies } from "../server/ProxiedServer.ts"
import * as Purchase from "./Purchase.ts"

export const scene = Effect.gen(function* () {
  const { url } = yield* World
  const { database, facilitator, rpc } = yield* Proxies
  return { url, database, facilitator, rpc, sql: yield* SqlClient.SqlClient }
})

/** The same with a purchase that is signed and not sent. */
export const buying = Effect.gen(function* () {
  const found = yield* scene
  return { ...found, purchase: yield* Purchase.prepare(found.url) }
})
