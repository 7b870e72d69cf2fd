/** The start of most tests of a payment: the server, its proxies, the tests' SQL, and a signed stone. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Proxies, TestServer } from "../Fixture.ts"
import * as Purchase from "./Purchase.ts"

export const paymentFixture = Effect.gen(function* () {
  const { url } = yield* TestServer
  const { database, facilitator, rpc } = yield* Proxies
  return { url, database, facilitator, rpc, sql: yield* SqlClient.SqlClient }
})

/** The same with a purchase that is signed and not sent. */
export const signedFixture = Effect.gen(function* () {
  return { ...(yield* paymentFixture), purchase: yield* Purchase.prepare() }
})
