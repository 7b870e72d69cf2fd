/** Records the intents of purchases that come together. Each takes its key, payment, slots and number, or nothing. */
import { randomUUID } from "node:crypto"
import { Context, Effect, Layer, Option, RcMap, Schema, Semaphore } from "effect"
import { SqlClient } from "effect/sql"
import type { Hex } from "viem"
import { firstPaymentsMaximum, openPaymentsMaximum } from "../../../schema/payments/Errors.ts"
import { rowsOf } from "../../platform/Rows.ts"
import * as Batcher from "../../platform/Batcher.ts"
import { isRefused, literal, named, part, prepare, retryConflicts } from "../../platform/Sql.ts"
import { timestampOf } from "../../platform/Time.ts"
import * as Trace from "../../platform/Trace.ts"
import type { Claims } from "../Act.ts"
import { Word } from "../x402/chain/Eip3009.ts"
import { claimOf, encodePayment, type Payment } from "../Payment.ts"
import type { Attempt } from "./Attempt.ts"
import { type AttemptState, Lookup } from "./Lookup.ts"

/** A wallet's balance in atomic units, read at `asOfMillis` or a little later. */
export interface PayerBalance {
  readonly balanceAtomic: bigint
  /** By the database's clock, like the end of an attempt. */
  readonly asOfMillis: number
  /** Whether payments in flight are added back. */
  readonly isExact: boolean
}

export interface NewAttempt {
  readonly idempotencyKey: string
  readonly fingerprint: string
  readonly act: string
  readonly url: string
  readonly input: Schema.Json
  readonly amountAtomic: bigint
  readonly payment: Payment
  readonly claims: Claims
  /** The wallet's balance, absent for a card and for a payment that is already made. */
  readonly balance?: PayerBalance | undefined
  readonly acceptedAtMillis: number
  /** Milliseconds after which another server may inquire. */
  readonly leaseMillis: number
}

/** A payment of a wallet that may still leave its balance, or has just left it. */
export interface InFlight {
  readonly nonce: Hex
  readonly amountAtomic: bigint
}

export type ClaimOutcome =
  | { readonly _tag: "Claimed"; readonly attempt: Attempt }
  | { readonly _tag: "Conflict"; readonly state: AttemptState }
  /** The balance does not cover the payments in flight, or their number has reached its limit `most`. */
  | {
      readonly _tag: "Overdrawn"
      readonly tooMany: boolean
      readonly most: number
      readonly inFlight: ReadonlyArray<InFlight>
    }

/** Maximum lag of a node in milliseconds. A balance may miss a payment that settled within it. */
const nodeLag = 60_000

const sinceOf = ({ asOfMillis }: PayerBalance) => timestampOf(asOfMillis - nodeLag)

/**
 * How many payments the wallet `p` may have in flight: more with each one it made, but one for an hour after a transfer
 * that passed its rehearsal failed on chain. Ordered, so that also the plan for a small table uses the wallet's index.
 */
const inFlightMaximum = literal(`(SELECT CASE WHEN p.limited_until > now() THEN 1
    ELSE least(${firstPaymentsMaximum} * (count(*)::int + 1), ${openPaymentsMaximum}) END
    FROM (
      SELECT 1 FROM payment_attempts WHERE payer = p.name AND state = 'settled' ORDER BY ended_at DESC
      LIMIT ${Math.ceil(openPaymentsMaximum / firstPaymentsMaximum) - 1}
    ) AS s)`)

/**
 * The attempts that are to be made, with the names they take. No two are of one wallet. One whose name is held is left
 * out, since it would refuse the others. A lock that another session holds for two seconds refuses all: each then waits
 * alone.
 */
const intents = part`
  SELECT r.* FROM set_config('lock_timeout', '2s', true), json_to_recordset(${named("intents")}::json) AS r(
    id uuid, idempotency_key text, fingerprint text, act text, url text, input text, amount_atomic numeric,
    payment jsonb, payer text, pool text, capacity int, accepted_at timestamptz, next_check_at timestamptz,
    balance numeric, since timestamptz, traceparent text, names json)
  WHERE NOT EXISTS (
    SELECT 1 FROM json_array_elements_text(r.names) AS n(name)
    CROSS JOIN LATERAL (SELECT name FROM payment_claims WHERE name = n.name LIMIT 1) AS c)`

/** Locks the wallets' rows before their payments are counted, so two claims never count past each other. */
const lockWallets = part`
  INSERT INTO payment_payers AS p (name) SELECT payer FROM intent WHERE balance IS NOT NULL ORDER BY payer
  ON CONFLICT (name) DO UPDATE SET name = p.name RETURNING name, limited_until`

/** The intents, unless their wallets have too many payments in flight or cannot cover them, in turn for each pool. */
const coveredIntents = part`
  SELECT a.*, row_number() OVER (PARTITION BY a.pool ORDER BY a.accepted_at, a.id)::int AS turn
  FROM intent a LEFT JOIN wallet p ON p.name = a.payer
  WHERE a.balance IS NULL OR payment_fits(p.name, a.amount_atomic, a.balance, a.since, ${inFlightMaximum})`

/** The highest number of a pool after as many as are wanted are drawn, first those that were released. */
const highestDrawn = literal(`least(p.highest + excluded.drawn - least(excluded.drawn, cardinality(p.released)),
      (SELECT min(capacity) FROM covered WHERE pool = p.name))`)

/** Draws the lowest released numbers of each pool, then the next ones up to its capacity. */
const drawNumbers = part`
  INSERT INTO payment_pools AS p (name, drawn, highest, taken)
  SELECT pool, n, n, ARRAY(SELECT generate_series(1, n)) FROM (
    SELECT pool, least(count(*), min(capacity))::int AS n FROM covered WHERE pool IS NOT NULL GROUP BY pool
  ) AS wanted WHERE n > 0 ORDER BY pool
  ON CONFLICT (name) DO UPDATE SET
    taken = p.released[:excluded.drawn] || ARRAY(SELECT generate_series(p.highest + 1, ${highestDrawn})),
    highest = GREATEST(p.highest, ${highestDrawn}),
    released = p.released[excluded.drawn + 1:]
  RETURNING name, taken`

const insertAttempts = part`
  INSERT INTO payment_attempts (id, idempotency_key, fingerprint, act, url, input, amount_atomic, payment, pool,
    pool_number, state, accepted_at, next_check_at, traceparent)
  SELECT c.id, c.idempotency_key, c.fingerprint, c.act, c.url, c.input, c.amount_atomic, c.payment, c.pool,
    n.taken[c.turn], 'pending', c.accepted_at, c.next_check_at, c.traceparent
  FROM covered c LEFT JOIN number n ON n.name = c.pool WHERE c.pool IS NULL OR n.taken[c.turn] IS NOT NULL
  ORDER BY c.idempotency_key RETURNING id, pool_number`

/**
 * Takes the names. A name that is taken fails the whole statement. The authorization is one of them and is never
 * released, so no later attempt can take it.
 */
const takeNames = part`
  INSERT INTO payment_claims (name, attempt_id)
  SELECT n.name, a.id FROM attempt a JOIN intent i ON i.id = a.id, json_array_elements_text(i.names) AS n(name)
  ORDER BY n.name`

/** One round trip. All statements lock wallets, pools, keys and names in this order. */
const insertion = part`
  WITH intent AS MATERIALIZED (${intents}), wallet AS (${lockWallets}), covered AS MATERIALIZED (${coveredIntents}),
    number AS (${drawNumbers}), attempt AS (${insertAttempts}), held AS (${takeNames})
  SELECT id, pool_number AS number FROM attempt`

const rowOf = (id: string, newAttempt: NewAttempt, traceparent: string | null) => {
  const { acceptedAtMillis, amountAtomic, balance, claims, leaseMillis, payment, ...request } = newAttempt
  return {
    id,
    idempotency_key: request.idempotencyKey,
    fingerprint: request.fingerprint,
    act: request.act,
    url: request.url,
    input: JSON.stringify(request.input),
    amount_atomic: String(amountAtomic),
    payment: encodePayment(payment),
    payer: payment.rail === "x402" ? payment.authorization.from : null,
    pool: claims.pool?.name ?? null,
    capacity: claims.pool?.capacity ?? 0,
    accepted_at: timestampOf(acceptedAtMillis),
    next_check_at: timestampOf(acceptedAtMillis + leaseMillis),
    balance: balance === undefined ? null : String(balance.balanceAtomic),
    since: balance === undefined ? null : sinceOf(balance),
    traceparent,
    names: [...claims.slots, claimOf(payment)],
  }
}
type IntentRow = ReturnType<typeof rowOf>

const inFlightRows = rowsOf(
  "payment_attempts",
  Schema.Struct({
    nonce: Word,
    amountAtomic: Schema.BigIntFromString,
    state: Schema.Literals(["pending", "settled"]),
    most: Schema.Int,
  }),
)

export class Claim extends Context.Service<Claim>()("spirit-altar/payments/store/Claim", {
  make: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const lookup = yield* Lookup
    const insert = (yield* prepare)<{ readonly id: string; readonly number: number | null }>(insertion)

    /** Other statements on the connection would wait for the locks of this one. */
    const onOwnConnection = <A, E, R>(statement: Effect.Effect<A, E, R>) =>
      Effect.scoped(
        Effect.flatMap(sql.reserve, (connection) =>
          Effect.provideService(statement, sql.transactionService, [connection, 0]),
        ),
      )

    /** Of each attempt, whether it was made, and its number. */
    const insertSoon = yield* Batcher.make({
      // Another server that stops in a transaction keeps the row of a pool locked.
      laneOf: ({ pool }: IntentRow) => pool ?? "",
      // A name that one intent finds taken, or a lock that it waits for, must not refuse the others.
      retriesAlone: isRefused,
      run: (rows) =>
        Effect.map(retryConflicts(onOwnConnection(insert({ intents: JSON.stringify(rows) }))), (made) => {
          const numbers = new Map(made.map(({ id, number }) => [id, number]))
          return rows.map(({ id }) => ({ isMade: numbers.has(id), number: numbers.get(id) ?? null }))
        }),
    })

    const turns = yield* RcMap.make({ lookup: (_: string) => Semaphore.make(1) })
    /** Claims the payments of a wallet one after the other, so that their lock delays no batch. */
    const insertInTurn = (row: IntentRow) =>
      row.payer === null
        ? insertSoon(row)
        : Effect.scoped(Effect.flatMap(RcMap.get(turns, row.payer), (turn) => turn.withPermit(insertSoon(row))))

    /** The attempt, unless it was not made: its wallet does not cover it, or its pool or a name is taken. */
    const inserted = Effect.fnUntraced(function* (newAttempt: NewAttempt) {
      const { acceptedAtMillis, payment } = newAttempt
      const id = randomUUID()
      const traceparent = (yield* Trace.current) ?? null
      const { isMade, number } = yield* insertInTurn(rowOf(id, newAttempt, traceparent)).pipe(
        Effect.catchIf(
          (error) => error.reason._tag === "UniqueViolation",
          () => Effect.succeed({ isMade: false, number: null }),
        ),
      )
      if (!isMade) return Option.none()
      const { act, amountAtomic, fingerprint, idempotencyKey, input, url } = newAttempt
      return Option.some<Attempt>({
        id,
        idempotencyKey,
        fingerprint,
        act,
        url,
        input,
        amountAtomic,
        payment,
        number,
        doubt: null,
        acceptedAt: timestampOf(acceptedAtMillis),
        checks: 0,
        traceparent,
        state: "pending",
      })
    })

    /** The wallet's payments that block this claim; none if they no longer do. */
    const hindrance = Effect.fnUntraced(function* ({ amountAtomic, balance, payment }: NewAttempt) {
      if (balance === undefined || payment.rail === "card") return Option.none<ClaimOutcome>()
      const payments = yield* inFlightRows(sql`
        SELECT payments.*, ${inFlightMaximum} AS most FROM payment_payers p CROSS JOIN LATERAL (
          SELECT payment #>> '{authorization,nonce}' AS nonce, amount_atomic::text AS amount_atomic, state
          FROM payment_attempts WHERE payer = p.name AND state = 'pending'
          UNION ALL (
            SELECT payment #>> '{authorization,nonce}', amount_atomic::text, state FROM payment_attempts
            WHERE payer = p.name AND state = 'settled' AND ended_at > ${sinceOf(balance)}::timestamptz
            ORDER BY ended_at DESC LIMIT 64
          )
        ) AS payments WHERE p.name = ${payment.authorization.from}`)
      const most = payments[0]?.most ?? firstPaymentsMaximum
      const tooMany = payments.filter(({ state }) => state === "pending").length >= most
      const total = payments.reduce((sum, other) => sum + other.amountAtomic, amountAtomic)
      return tooMany || total > balance.balanceAtomic
        ? Option.some<ClaimOutcome>({ _tag: "Overdrawn", tooMany, most, inFlight: payments })
        : Option.none()
    })

    const claim = Effect.fnUntraced(function* (newAttempt: NewAttempt) {
      const made = yield* inserted(newAttempt)
      if (Option.isSome(made)) return { _tag: "Claimed", attempt: made.value } satisfies ClaimOutcome
      const state = yield* lookup.state(newAttempt.idempotencyKey, newAttempt.claims, newAttempt.payment)
      const isTaken = Option.isSome(state.attempt) || state.paymentBound || state.conflicts.length > 0
      const hindered = isTaken ? Option.none() : yield* hindrance(newAttempt)
      return Option.getOrElse(hindered, (): ClaimOutcome => ({ _tag: "Conflict", state }))
    }, Trace.span("Claim.claim"))

    return { claim }
  }),
}) {
  static readonly layer = Layer.effect(this, this.make)
}
