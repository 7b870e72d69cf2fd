/** Records the intent of a purchase and takes its key, payment, slots and number together, or takes nothing. */
import { randomUUID } from "node:crypto"
import { Context, Effect, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { Hex } from "viem"
import { firstPaymentsMaximum, openPaymentsMaximum } from "../../../schema/payments/Errors.ts"
import { rowsOf } from "../../platform/Rows.ts"
import { literal, named, part, prepare, retryConflicts } from "../../platform/Sql.ts"
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
 * that passed its rehearsal failed on chain.
 */
const inFlightMaximum = literal(`(SELECT CASE WHEN p.limited_until > now() THEN 1
    ELSE least(${firstPaymentsMaximum} * (count(*)::int + 1), ${openPaymentsMaximum}) END
    FROM (
      SELECT 1 FROM payment_attempts WHERE payer = p.name AND state = 'settled'
      LIMIT ${Math.ceil(openPaymentsMaximum / firstPaymentsMaximum) - 1}
    ) AS s)`)

/** The attempt that is to be made, with the names it takes. */
const intent = part`
  SELECT * FROM json_to_record(${named("intent")}::json) AS r(id uuid, idempotency_key text, fingerprint text, act text,
    url text, input text, amount_atomic numeric, payment jsonb, payer text, pool text, capacity int,
    accepted_at timestamptz, next_check_at timestamptz, balance numeric, since timestamptz, traceparent text, names json)`

/** Locks the wallet's row before its payments are counted, so two claims never count past each other. */
const lockWallet = part`
  INSERT INTO payment_payers AS p (name) SELECT payer FROM intent WHERE balance IS NOT NULL
  ON CONFLICT (name) DO UPDATE SET name = p.name RETURNING name, limited_until`

/** The intent, unless its wallet has too many payments in flight or cannot cover them. */
const coveredIntent = part`
  SELECT a.* FROM intent a LEFT JOIN wallet p ON p.name = a.payer
  WHERE a.balance IS NULL OR payment_fits(p.name, a.amount_atomic, a.balance, a.since, ${inFlightMaximum})`

/** Draws the lowest released number of the pool, or the next one up to its capacity. */
const drawNumber = part`
  INSERT INTO payment_pools AS p (name, drawn, highest)
  SELECT pool, 1, 1 FROM covered WHERE pool IS NOT NULL AND capacity > 0
  ON CONFLICT (name) DO UPDATE SET
    drawn = COALESCE(p.released[1], p.highest + 1),
    highest = GREATEST(p.highest, COALESCE(p.released[1], p.highest + 1)),
    released = p.released[2:]
  WHERE p.released <> '{}' OR p.highest < (SELECT capacity FROM covered)
  RETURNING drawn`

const insertAttempt = part`
  INSERT INTO payment_attempts (id, idempotency_key, fingerprint, act, url, input, amount_atomic, payment, pool,
    pool_number, state, accepted_at, next_check_at, traceparent)
  SELECT c.id, c.idempotency_key, c.fingerprint, c.act, c.url, c.input, c.amount_atomic, c.payment, c.pool, n.drawn,
    'pending', c.accepted_at, c.next_check_at, c.traceparent
  FROM covered c LEFT JOIN number n ON true WHERE c.pool IS NULL OR n.drawn IS NOT NULL
  RETURNING id, pool_number`

/**
 * Takes the names. A name that is taken fails the whole statement. The authorization is one of them and is never
 * released, so no later attempt can take it.
 */
const takeNames = part`
  INSERT INTO payment_claims (name, attempt_id)
  SELECT n.name, a.id FROM attempt a, intent, json_array_elements_text(intent.names) AS n(name) ORDER BY n.name`

/** One round trip. All statements lock wallets, pools, keys and names in this order. */
const insertion = part`
  WITH intent AS MATERIALIZED (${intent}), wallet AS (${lockWallet}), covered AS MATERIALIZED (${coveredIntent}),
    number AS (${drawNumber}), attempt AS (${insertAttempt}), held AS (${takeNames})
  SELECT pool_number AS number FROM attempt`

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
    const insert = (yield* prepare)<{ readonly number: number | null }>(insertion)

    /** The attempt, unless it was not made: its wallet does not cover it, or its pool or a name is taken. */
    const inserted = Effect.fnUntraced(function* (newAttempt: NewAttempt) {
      const { acceptedAtMillis, amountAtomic, balance, claims, leaseMillis, payment, ...request } = newAttempt
      const { act, fingerprint, idempotencyKey, input, url } = request
      const id = randomUUID()
      const traceparent = (yield* Trace.current) ?? null
      const row = {
        id,
        idempotency_key: idempotencyKey,
        fingerprint,
        act,
        url,
        input: JSON.stringify(input),
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
      const [made] = yield* retryConflicts(insert({ intent: JSON.stringify(row) })).pipe(
        Effect.catchIf(
          (error) => error.reason._tag === "UniqueViolation",
          () => Effect.succeed([]),
        ),
      )
      return Option.map(Option.fromUndefinedOr(made), ({ number }): Attempt => ({
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
      }))
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
