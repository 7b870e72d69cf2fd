/** Wallets that would have the relayer pay gas for nothing: each can do it once, and all servers know it. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import type { Hex } from "viem"
import { AppConfig } from "../../src/Config.ts"
import { LocalChain } from "../../src/sandbox/LocalChain.ts"
import * as Server from "../../src/Server.ts"
import * as Crowd from "../support/Crowd.ts"
import * as Purchase from "../support/Purchase.ts"
import { Proxies, proxiedServer } from "../support/Proxies.ts"
import { type Answer, configOf, newPayer, World } from "../support/World.ts"

/** The code of a wallet that agrees to every signature. */
const agrees = "631626ba7e60e01b60005260206000f3"
const agreeing: Hex = `0x${agrees}`

/** Turns until its gas is gone. */
const burning: Hex = "0x5b600056"

/** Agrees while gas has no price, and otherwise turns until its gas is gone. */
const burningAtAPrice: Hex = `0x3a156009575b6005565b${agrees}`

const giveCode = (address: Hex, bytecode: Hex) => Purchase.onChain((client) => client.setCode({ address, bytecode }))

const reasonIn = ({ json, status }: Answer) => [status, json["code"], json["reason"]]

const attempts = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql<{ state: string; n: number }>`
    SELECT state, count(*)::int AS n FROM payment_attempts GROUP BY state ORDER BY state`,
).pipe(Effect.map((rows) => rows.map(({ n, state }) => [state, n])))

/** Another server over the same database, chain and relayer. */
const another = Effect.gen(function* () {
  const { url } = yield* World
  const { relayerKey } = yield* LocalChain
  const settlement = { _tag: "Relayer", privateKey: Redacted.make(Redacted.value(relayerKey)) } as const
  const config = yield* configOf({ settlement }, { publicUrl: url })
  yield* Layer.build(Server.layer(Layer.empty).pipe(Layer.provide(Layer.succeed(AppConfig, config))))
  return `http://127.0.0.1:${config.port}`
})

describe("a wallet that agrees in a rehearsal and burns its gas in a block", { concurrent: true }, () => {
  it.live("cannot tell them apart by the price of gas", () =>
    Effect.gen(function* () {
      const { url } = yield* World
      const payer = yield* newPayer(8n * Purchase.price)
      const purchases = yield* Effect.forEach([1, 2, 3, 4, 5, 6, 7, 8], () => Purchase.prepare(url, undefined, payer))
      yield* giveCode(payer.address, burningAtAPrice)
      const answers = yield* Effect.forEach(purchases, (one) => Purchase.send(url, one), { concurrency: "unbounded" })
      assert.strictEqual(yield* Crowd.relayed, 0, "no gas is spent")
      const failed = answers.filter(({ status }) => status !== 409)
      assert.isNotEmpty(failed)
      for (const answer of failed) {
        assert.deepStrictEqual(reasonIn(answer), [402, "payment_failed", "invalid_exact_evm_signature"], answer.text)
      }
      assert.deepStrictEqual(yield* attempts, [["failed", failed.length]], "no slot is held")
    }).pipe(Effect.provide(proxiedServer("relayer", "20 seconds"))),
  )

  it.live("has one payment open until one is paid, and is refused at once by every server when it reverts", () =>
    Effect.gen(function* () {
      const { url } = yield* World
      const { rpc } = yield* Proxies
      const other = yield* another
      const payer = yield* newPayer(64n * Purchase.price)
      const purchases = yield* Effect.forEach([1, 2, 3, 4, 5, 6], () => Purchase.prepare(url, undefined, payer))
      yield* giveCode(payer.address, agreeing)
      const trap = rpc.arm("eth_sendRawTransaction", "holdBefore")
      const crowd = yield* Effect.forkScoped(
        Effect.forEach(purchases, (one) => Purchase.send(url, one), { concurrency: "unbounded" }),
      )
      yield* trap.arrived
      yield* rpc.calm
      yield* giveCode(payer.address, burning)
      yield* trap.release
      const answers = yield* Fiber.join(crowd)
      const open = purchases.find((_, index) => answers[index]?.status === 202)
      const limited = answers.filter(({ status }) => status === 409)
      assert.deepStrictEqual([open === undefined, limited.length], [false, 5])
      for (const { json } of limited) {
        assert.match(String(json["message"]), /wallet with code .* may have 1 .* This request charged nothing\.$/u)
      }
      if (open === undefined) return
      Purchase.assertPending(url, open, yield* Purchase.reconcile(url, open))
      yield* giveCode(payer.address, agreeing)
      for (const server of [url, other]) {
        const next = yield* Purchase.prepare(url, undefined, payer)
        const refused = yield* Purchase.send(server, next)
        assert.deepStrictEqual(reasonIn(refused), [402, "payment_invalid", "wallet_reverted_settlement"], refused.text)
        assert.match(
          String(refused.json["message"]),
          /for an hour .* This request charged nothing; until its validBefore .* Pay from another wallet/u,
        )
        assert.isUndefined(yield* Purchase.attemptOf(next), "nothing is claimed")
      }
      // However often it is looked at, it is paid for once and counted once.
      yield* Purchase.reconcile(url, open)
      yield* Purchase.reconcile(other, open)
      assert.strictEqual(yield* Crowd.relayed, 1)
      assert.deepStrictEqual(yield* attempts, [["pending", 1]])
      const sql = yield* SqlClient.SqlClient
      const [lost] = yield* sql<{ gas: number }>`SELECT sum(lost_gas)::int AS gas FROM payment_payers`
      assert.isAbove(lost?.gas ?? 0, 50_000)
      assert.isAtMost(lost?.gas ?? 0, 750_000)
    }).pipe(Effect.provide(proxiedServer("relayer", "20 seconds")), Effect.scoped),
  )
})
