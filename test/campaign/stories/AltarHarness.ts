/** Two servers on one database and one chain, their network that misbehaves when told to, and what buyers send. */
import { Clock, Duration, Effect, Exit, Layer, Redacted, Schedule, Scope } from "effect"
import { SqlClient } from "effect/sql"
import { serverWith } from "../../lab/server/AnotherServer.ts"
import { selling } from "../../lab/server/ProxiedServer.ts"
import { Proxies } from "../../lab/TestServices.ts"
import { freePort } from "../../lab/Ports.ts"
import { type Answer, ask, post } from "../../lab/Fixture.ts"
import { challengeOf, encode, type Payment, sign } from "../../lab/buyer/Payment.ts"
import type * as Model from "./AltarModel.ts"
import { apartMillis, leavesOpen } from "./AltarModel.ts"
import { keyOf, paths, pixels, requestOf, soldBefore } from "./AltarCommands.ts"
import { type ChainControl, chainControl } from "./ChainControl.ts"
import { controlledClock, waitMillis } from "./ControlledClock.ts"

/** Seconds for which a payment is signed. */
const life = 300

/** An answer in short. */
export const saidBy = ({ json, status }: Answer) => {
  const code = status < 300 && json["code"] !== "settlement_pending" ? undefined : json["code"]
  return code === undefined ? String(status) : `${status} ${String(code)}`
}

interface Network {
  readonly chain: ChainControl
  readonly facilitator: Proxies["Service"]["facilitator"]
  readonly rpc: Proxies["Service"]["rpc"]
}

/** How the network misbehaves. */
const misbehaviour: Readonly<Record<Model.Fault, (network: Network) => unknown>> = {
  no: () => {},
  "no block comes": ({ chain }) => chain.mining(false),
  "the node is silent": ({ rpc }) => rpc.arm("*", "dropBefore"),
  "receipts are withheld": ({ rpc }) => rpc.arm("eth_getTransactionReceipt", "nothing"),
  "broadcasts are swallowed": ({ rpc }) => rpc.arm("eth_sendRawTransaction", "swallow"),
  "broadcasts are refused": ({ rpc }) => rpc.arm("eth_sendRawTransaction", "refusal"),
  "answers to broadcasts are lost": ({ rpc }) => rpc.arm("eth_sendRawTransaction", "dropAfter"),
  "broadcasts are taken and denied": ({ rpc }) => rpc.arm("eth_sendRawTransaction", "deny"),
  "the facilitator refuses": ({ facilitator }) => facilitator.arm("refuseBefore"),
  "the facilitator imagines a transaction": ({ facilitator }) => facilitator.arm("imagineBefore"),
  "the facilitator's answers are lost": ({ facilitator }) => facilitator.arm("dropAfter", "mined"),
  "the facilitator calls it used": ({ facilitator }) => facilitator.arm("alreadyUsedAfter", "mined"),
  "the facilitator names another transaction": ({ facilitator }) => facilitator.arm("wrongHashAfter", "mined"),
  "the facilitator refuses what it has sent": ({ facilitator }) => facilitator.arm("refuseAfter", "mined"),
}

/** An attempt as it stands in the database. */
export interface Row {
  readonly key: string
  readonly state: string
  readonly checks: number
  readonly finality: string
  /** Whether a sweep may look at it. */
  readonly isTime: boolean
  /** How many names it holds. */
  readonly claims: number
  /** How often its act is recorded. */
  readonly acts: number
}

/** Which of the two servers. */
export type At = 0 | 1

/** The servers run until the scope is closed. */
export const make = Effect.fnUntraced(function* (settledBy: Model.SettledBy) {
  const hands = yield* controlledClock
  const chain = yield* chainControl(hands)
  const sql = yield* SqlClient.SqlClient
  const { database, facilitator, rpc } = yield* Proxies
  const change = { ...(yield* selling(settledBy, undefined, apartMillis)), patience: Duration.millis(waitMillis) }
  const ports = [yield* freePort, yield* freePort] as const
  const urlOf = (at: At) => `http://127.0.0.1:${ports[at]}`
  const payments: Array<Payment> = []

  for (const pixel of pixels)
    yield* sql`INSERT INTO payment_pools (name, drawn, highest)
      VALUES (${`edition:${pixel}`}, ${soldBefore}, ${soldBefore})`

  const running: [Scope.Closeable, Scope.Closeable] = [yield* Scope.make(), yield* Scope.make()]
  const start = Effect.fnUntraced(function* (at: At) {
    running[at] = yield* Scope.make()
    const server = { port: ports[at], publicUrl: urlOf(0), databaseUrl: Redacted.make(database.url) }
    yield* serverWith(change, server, Layer.empty).pipe(
      Scope.provide(running[at]),
      Effect.provideService(Clock.Clock, hands.clock),
    )
    yield* Effect.tryPromise(() => fetch(`${urlOf(at)}/livez`)).pipe(Effect.retry(Schedule.spaced("20 millis")))
  }, Effect.orDie)
  const stop = (at: At) => Effect.suspend(() => Scope.close(running[at], Exit.void))
  for (const at of [0, 1] as const) {
    yield* Effect.addFinalizer(() => stop(at))
    yield* start(at)
  }

  const restart = (at: At) => Effect.andThen(stop(at), start(at))

  const truth = Effect.promise(() => chain.truth(payments))

  /** Time goes on for everybody; where blocks come, one of it is final. */
  const pass = Effect.fnUntraced(function* (millis: number) {
    yield* hands.pass(millis)
    if (chain.isMining()) yield* Effect.promise(() => chain.mine(3))
  })

  const rows = sql<Row>`
    SELECT idempotency_key AS key, state, checks, finality, next_check_at <= (SELECT at FROM hands) AS "isTime",
      (SELECT count(*)::int FROM payment_claims c WHERE c.attempt_id = a.id) AS claims,
      (SELECT count(*)::int FROM acts WHERE acts.id = a.id) AS acts
    FROM payment_attempts a ORDER BY idempotency_key COLLATE "C"`.pipe(Effect.orDie)

  /** Taken while the network behaves: a server whose node is silent offers nothing. */
  const offers = new Map(
    yield* Effect.forEach(
      paths,
      (path) =>
        Effect.map(ask(`${urlOf(0)}${path}`, { method: "POST" }), (answer) => [path, challengeOf(answer)] as const),
      { concurrency: "unbounded" },
    ),
  )

  /** Signs a payment of its own for an order. */
  const signed = Effect.fnUntraced(function* (order: Model.Order, wallet: Model.Wallet) {
    const { path } = requestOf(order)
    const offer = offers.get(path)
    if (offer === undefined) return yield* Effect.die(`no offer was taken for ${path}`)
    const validBefore = Math.floor(hands.now() / 1000) + life
    const payment = yield* sign(chain.payers[wallet], offer.accepts[0], offer.resource, {
      validBefore: String(validBefore),
    })
    return { authorization: payments.push(payment) - 1, validBefore }
  })

  const sent = Effect.fnUntraced(function* (at: At, key: number, order: Model.Order, authorization?: number) {
    const { body, path } = requestOf(order)
    const payment = authorization === undefined ? undefined : payments[authorization]
    const paying = payment === undefined ? {} : { "payment-signature": encode(payment) }
    return yield* ask(`${urlOf(at)}${path}`, post(body, { "idempotency-key": keyOf(key), ...paying }))
  })

  const calm = Effect.gen(function* () {
    yield* rpc.calm
    yield* facilitator.calm
    hands.cutWaits(false)
    if (!chain.isMining()) yield* Effect.promise(() => chain.mining(true))
  })

  const misbehave = Effect.fnUntraced(function* (fault: Model.Fault) {
    yield* calm
    hands.cutWaits(leavesOpen.has(fault) || fault === "the facilitator names another transaction")
    yield* Effect.promise(async () => misbehaviour[fault]({ chain, facilitator, rpc }))
  })

  const paymentOf = (place: number) => payments[place]
  return { urlOf, hands, chain, paymentOf, restart, truth, pass, rows, signed, sent, calm, misbehave }
})
