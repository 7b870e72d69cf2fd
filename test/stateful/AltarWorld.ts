/** One server on its own chain and database, its network that misbehaves when told to, and what buyers send. */
import { Clock, Duration, Effect, Exit, Layer, Option, Redacted, Schedule, Scope } from "effect"
import { SqlClient } from "effect/sql"
import { AppConfig } from "../../src/Config.ts"
import { LocalChain } from "../../src/sandbox/LocalChain.ts"
import * as Server from "../../src/Server.ts"
import { Proxies, stage } from "../support/Proxies.ts"
import {
  type Answer,
  ask,
  challengeOf,
  configOf,
  encode,
  type Payment,
  paymentsOf,
  post,
  sign,
} from "../support/World.ts"
import * as Model from "./AltarModel.ts"
import { keyOf, pixels, requestOf, soldBefore } from "./AltarOrders.ts"
import { ChainHands } from "./ChainHands.ts"
import { Hands, waitMillis } from "./Hands.ts"

/** Seconds for which a payment is signed. */
const life = 300

const config = (settledBy: Model.SettledBy) =>
  Layer.effect(
    AppConfig,
    Effect.gen(function* () {
      const chain = yield* LocalChain
      const { database, facilitator, rpc } = yield* Proxies
      const { settlement } = paymentsOf(chain)
      return yield* configOf(
        {
          rpcUrl: Redacted.make(rpc.url),
          patience: Duration.millis(waitMillis),
          sweepEvery: Duration.millis(Model.apartMillis),
          settlement:
            settledBy === "relayer" ? settlement : { _tag: "Facilitator", url: facilitator.url, key: Option.none() },
        },
        { databaseUrl: Redacted.make(database.url) },
      )
    }),
  )

export const layer = (settledBy: Model.SettledBy) =>
  ChainHands.layer.pipe(
    Layer.provideMerge(config(settledBy)),
    Layer.provideMerge(Hands.layer),
    Layer.provideMerge(stage),
    Layer.orDie,
  )

/** An answer in short. */
export const saidBy = ({ json, status }: Answer) => {
  const code = status < 300 && json["code"] !== "settlement_pending" ? undefined : json["code"]
  return code === undefined ? String(status) : `${status} ${String(code)}`
}

/** An attempt as it stands in the database. */
export interface Row {
  readonly key: string
  readonly state: string
  readonly checks: number
  readonly finality: string
  /** How many names it holds. */
  readonly claims: number
  /** How often its act is recorded. */
  readonly acts: number
}

/** The server runs until the scope is closed. */
export const make = Effect.gen(function* () {
  const hands = yield* Hands
  const chain = yield* ChainHands
  const sql = yield* SqlClient.SqlClient
  const { facilitator, rpc } = yield* Proxies
  const config = yield* AppConfig
  const url = config.publicUrl
  const payments: Array<Payment> = []

  for (const pixel of pixels)
    yield* sql`INSERT INTO payment_pools (name, drawn, highest)
      VALUES (${`edition:${pixel}`}, ${soldBefore}, ${soldBefore})`

  let running = yield* Scope.make()
  const start = Effect.gen(function* () {
    running = yield* Scope.make()
    yield* Layer.buildWithScope(
      Layer.fresh(
        Server.layer(Layer.empty).pipe(
          Layer.provide(Layer.succeed(AppConfig, config)),
          Layer.provide(Layer.succeed(Clock.Clock, hands.clock)),
        ),
      ),
      running,
    )
    yield* Effect.tryPromise(() => fetch(`${url}/livez`)).pipe(Effect.retry(Schedule.spaced("20 millis")))
  }).pipe(Effect.orDie)
  yield* Effect.addFinalizer(() => Scope.close(running, Exit.void))
  yield* start

  const restart = Effect.andThen(
    Effect.suspend(() => Scope.close(running, Exit.void)),
    start,
  )

  const truth = Effect.promise(() => chain.truth(payments))

  /** Time goes on for everybody; where blocks come, one of it is final. */
  const pass = Effect.fnUntraced(function* (millis: number) {
    yield* hands.pass(millis)
    if (chain.isMining()) yield* Effect.promise(() => chain.mine(3))
  })

  const rows = sql<Row>`
    SELECT idempotency_key AS key, state, checks, finality,
      (SELECT count(*)::int FROM payment_claims c WHERE c.attempt_id = a.id) AS claims,
      (SELECT count(*)::int FROM acts WHERE acts.id = a.id) AS acts
    FROM payment_attempts a ORDER BY idempotency_key COLLATE "C"`.pipe(Effect.orDie)

  /** The id of an attempt; of none, one that nobody has. */
  const idOf = (key: number) =>
    sql<{ readonly id: string }>`SELECT id FROM payment_attempts WHERE idempotency_key = ${keyOf(key)}`.pipe(
      Effect.orDie,
      Effect.map(([found]) => found?.id ?? "00000000-0000-4000-8000-000000000000"),
    )

  const offerOf = Effect.fnUntraced(function* (path: string) {
    return challengeOf(yield* ask(`${url}${path}`, { method: "POST" }))
  })
  const offers = new Map<string, Effect.Success<ReturnType<typeof offerOf>>>()

  /** Signs a payment of its own for an order. */
  const signed = Effect.fnUntraced(function* (order: Model.Order, wallet: Model.Wallet) {
    const { path } = requestOf(order)
    const offer = offers.get(path) ?? (yield* offerOf(path))
    offers.set(path, offer)
    const validBefore = Math.floor(hands.now() / 1000) + life
    const payment = yield* sign(chain.payers[wallet], offer.accepts[0], offer.resource, {
      validBefore: String(validBefore),
    })
    payments.push(payment)
    return { authorization: payments.length - 1, validBefore }
  })

  const sent = (key: number, order: Model.Order, authorization?: number) => {
    const { body, path } = requestOf(order)
    const payment = authorization === undefined ? undefined : payments[authorization]
    const headers = { "idempotency-key": keyOf(key) }
    const paying = payment === undefined ? headers : { ...headers, "payment-signature": encode(payment) }
    return ask(`${url}${path}`, post(body, paying))
  }

  const calm = Effect.gen(function* () {
    yield* rpc.calm
    yield* facilitator.calm
    hands.cutWaits(false)
    if (!chain.isMining()) yield* Effect.promise(() => chain.mining(true))
  })

  const misbehave = Effect.fnUntraced(function* (fault: Model.Fault) {
    yield* calm
    hands.cutWaits(Model.leavesOpen.has(fault) || fault === "the facilitator names another transaction")
    switch (fault) {
      case "no":
        return
      case "no block comes":
        return yield* Effect.promise(() => chain.mining(false))
      case "the node is silent":
        return void rpc.arm("*", "dropBefore")
      case "receipts are withheld":
        return void rpc.arm("eth_getTransactionReceipt", "nothing")
      case "broadcasts are swallowed":
        return void rpc.arm("eth_sendRawTransaction", "swallow")
      case "broadcasts are refused":
        return void rpc.arm("eth_sendRawTransaction", "refusal")
      case "answers to broadcasts are lost":
        return void rpc.arm("eth_sendRawTransaction", "dropAfter")
      case "broadcasts are taken and denied":
        return void rpc.arm("eth_sendRawTransaction", "deny")
      case "the facilitator refuses":
        return void facilitator.arm("refuseBefore")
      case "the facilitator imagines a transaction":
        return void facilitator.arm("imagineBefore")
      case "the facilitator's answers are lost":
        return void facilitator.arm("dropAfter", "mined")
      case "the facilitator calls it used":
        return void facilitator.arm("alreadyUsedAfter", "mined")
      case "the facilitator names another transaction":
        return void facilitator.arm("wrongHashAfter", "mined")
      case "the facilitator refuses what it has sent":
        return void facilitator.arm("refuseAfter", "mined")
    }
  })

  return { url, hands, chain, payments, restart, truth, pass, rows, idOf, signed, sent, calm, misbehave }
})
