/** The start of most tests of a payment: the server, its proxies, the tests' SQL, and a signed stone. */
import { Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import { Proxies, TestServer } from "../Fixture.ts"
import * as Purchase from "./Purchase.ts"
import { empty } from "./ThirdParty.ts"

export const paymentFixture = Effect.gen(function* () {
  const { url } = yield* TestServer
  const { database, facilitator, rpc } = yield* Proxies
  return { url, database, facilitator, rpc, sql: yield* SqlClient.SqlClient }
})

/** The same with a purchase that is signed and not sent. */
export const signedFixture = Effect.gen(function* () {
  return { ...(yield* paymentFixture), purchase: yield* Purchase.prepare() }
})

/** A payment whose broadcast is in a block, after all of its wallet's money has left. */
export const emptied = Effect.gen(function* () {
  const { purchase, rpc } = yield* signedFixture
  const trap = rpc.arm("eth_sendRawTransaction", "holdBefore", (params) => params.includes(purchase.nonce.slice(2)))
  const bought = yield* Purchase.sendInto(trap, purchase)
  yield* empty(purchase.payer)
  yield* trap.release
  Purchase.assertPending(purchase, yield* Fiber.join(bought))
  yield* Purchase.broadcasts(1)
  return purchase
})
