/** Records the intent of a purchase and takes its key, payment, slots and number together, or takes nothing. */
import { randomUUID } from "node:crypto"
import { Context, Effect, Layer, Option, Schema } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { firstPaymentsMaximum } from "../../../schema/payments/Errors.ts"
import * as Batcher from "../../platform/Batcher.ts"
import { isRefused, named, prepare, retryConflicts } from "../../platform/Sql.ts"
import { rowReader } from "../../platform/Rows.ts"
import { literal, part } from "../../platform/SqlPart.ts"
import { timestampOf } from "../../platform/Time.ts"
import * as Trace from "../../platform/Trace.ts"
import { claimOf, encodePayment, type Payment } from "../Payment.ts"
import { Word } from "../Hex.ts"
import { Lookup } from "./Lookup.ts"
import type { Attempt } from "./Attempt.ts"
import { type ClaimOutcome, type NewAttempt, sinceOf } from "./NewAttempt.ts"
import { inFlightMaximum } from "./InFlightPayments.ts"

const readInFlight = rowReader(
  "payment_attempts",
  Schema.Struct({
    nonce: Word,
    amountAtomic: Schema.BigIntFromString,
    state: Schema.Literals(["pending", "settled"]),
  }),
)

const readPayer = rowReader("payment_payers", Schema.Struct({ most: Schema.Int }))
const unknownPayer = { most: firstPaymentsMaximum }

interface Intent {
  readonly id: string
  readonly attempt: NewAttempt
  readonly traceparent: string | null
  readonly names: ReadonlyArray<string>
}

/** `number` is undefined when no attempt was made, possibly because of another intent in the group. */
interface Inserted {
  readonly number: number | null | undefined
  readonly wasAlone: boolean
}

/** The paying wallet; null for a card. */
const walletOf = (payment: Payment) => (payment.rail === "x402" ? payment.authorization.from : null)

const namesOf = ({ claims, payment }: NewAttempt) => [...claims.slots, claimOf(payment)].sort()

/** One row per intent. Earlier intents of the same wallet in the group count as made, so that none is overlooked. */
const rowsOf = (intents: ReadonlyArray<Intent>) => {
  const spent = new Map<string | null, { readonly atomic: bigint; readonly count: number }>()
  return intents.map(({ attempt, id, names, traceparent }, place) => {
    const { acceptedAtMillis, amountAtomic, balance, claims, leaseMillis } = attempt
    const payer = walletOf(attempt.payment)
    const before = spent.get(payer) ?? { atomic: 0n, count: 0 }
    const draws = before.atomic + amountAtomic
    if (balance !== undefined) spent.set(payer, { atomic: draws, count: before.count + 1 })
    return {
      place,
      id,
      idempotency_key: attempt.idempotencyKey,
      fingerprint: attempt.fingerprint,
      act: attempt.act,
      url: attempt.url,
      input: JSON.stringify(attempt.input),
      amount_atomic: String(amountAtomic),
      payment: encodePayment(attempt.payment),
      payer,
      pool: claims.pool?.name ?? null,
      capacity: claims.pool?.capacity ?? 0,
      accepted_at: timestampOf(acceptedAtMillis),
      next_check_at: timestampOf(acceptedAtMillis + leaseMillis),
      balance: balance === undefined ? null : String(balance.balanceAtomic),
      since: balance === undefined ? null : sinceOf(balance),
      draws: String(draws),
      before: before.count,
      traceparent,
      names,
      claim: claimOf(attempt.payment),
    }
  })
}

const pendingAttempt = ({ attempt, id, traceparent }: Intent, number: number | null): Attempt => ({
  id,
  idempotencyKey: attempt.idempotencyKey,
  fingerprint: attempt.fingerprint,
  act: attempt.act,
  url: attempt.url,
  input: attempt.input,
  amountAtomic: attempt.amountAtomic,
  payment: attempt.payment,
  number,
  refusal: null,
  pendingFailure: null,
  acceptedAt: timestampOf(attempt.acceptedAtMillis),
  checks: 0,
  traceparent,
  state: "pending",
})

/**
 * Inserts all intents of a group, or none when a name is taken. Omits one that its wallet does not cover or whose pool
 * cannot serve the group. All statements lock wallets, pools, keys and names in this order.
 */
const insertion = part`
  WITH asked AS MATERIALIZED (
    SELECT * FROM json_to_recordset(${named("rows")}::json) AS r(place int, id uuid, idempotency_key text, fingerprint text,
      act text, url text, input text, amount_atomic numeric, payment jsonb, payer text, pool text, capacity int,
      accepted_at timestamptz, next_check_at timestamptz, balance numeric, since timestamptz, draws numeric, before int,
      traceparent text, names json, claim text)
  ), payer AS (
    INSERT INTO payment_payers AS p (name) SELECT DISTINCT payer FROM asked WHERE balance IS NOT NULL ORDER BY payer
    ON CONFLICT (name) DO UPDATE SET name = p.name RETURNING name, limited_until
  ), fitting AS MATERIALIZED (
    -- The wallet's row is locked before its payments are counted, so two claims never count past each other.
    SELECT a.* FROM asked a LEFT JOIN payer p ON p.name = a.payer
      CROSS JOIN LATERAL (SELECT ${literal(inFlightMaximum)} AS most) AS m
    WHERE (a.balance IS NULL OR payment_fits(p.name, a.draws, a.balance, a.since, m.most - a.before))
      AND NOT EXISTS (SELECT 1 FROM payment_refunds f WHERE f.payment = a.claim)
  ), ranked AS MATERIALIZED (
    SELECT id, pool, capacity, row_number() OVER (PARTITION BY pool ORDER BY place)::int AS rank,
      count(*) OVER (PARTITION BY pool)::int AS size FROM fitting
  ), drawn AS (
    INSERT INTO payment_pools AS p (name, drawn, highest)
    SELECT DISTINCT pool, size, size FROM ranked WHERE pool IS NOT NULL AND size <= capacity ORDER BY pool
    ON CONFLICT (name) DO UPDATE SET
      drawn = CASE WHEN cardinality(p.released) > 0 THEN p.released[1] ELSE p.highest + excluded.highest END,
      highest = CASE WHEN cardinality(p.released) > 0 THEN p.highest ELSE p.highest + excluded.highest END,
      released = p.released[2:]
    -- Released numbers are assigned one at a time.
    WHERE CASE WHEN cardinality(p.released) > 0 THEN excluded.highest = 1
      ELSE p.highest + excluded.highest <= (SELECT max(r.capacity) FROM ranked r WHERE r.pool = p.name) END
    RETURNING name, drawn
  ), attempt AS (
    INSERT INTO payment_attempts (id, idempotency_key, fingerprint, act, url, input, amount_atomic, payment, pool,
      pool_number, state, accepted_at, next_check_at, traceparent)
    SELECT f.id, f.idempotency_key, f.fingerprint, f.act, f.url, f.input, f.amount_atomic, f.payment, f.pool,
      d.drawn - r.size + r.rank, 'pending', f.accepted_at, f.next_check_at, f.traceparent
    FROM fitting f JOIN ranked r ON r.id = f.id LEFT JOIN drawn d ON d.name = f.pool
    WHERE f.pool IS NULL OR d.name IS NOT NULL ORDER BY f.idempotency_key
    RETURNING id, pool_number
  ), held AS (
    INSERT INTO payment_claims (name, attempt_id)
    SELECT n.name, a.id FROM attempt a JOIN asked USING (id), json_array_elements_text(asked.names) AS n(name)
    ORDER BY n.name
  )
  SELECT id::text AS id, pool_number FROM attempt`

export class Claim extends Context.Service<Claim>()("spirit-altar/payments/store/Claim", {
  make: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const lookup = yield* Lookup
    const insert = (yield* prepare)<{ readonly id: string; readonly pool_number: number | null }>(insertion)

    const insertTogether = (intents: ReadonlyArray<Intent>) =>
      retryConflicts(insert({ rows: JSON.stringify(rowsOf(intents)) })).pipe(
        Effect.map((rows) => new Map(rows.map((row) => [row.id, row.pool_number]))),
        Effect.map((numbers) =>
          intents.map(({ id }): Inserted => ({ number: numbers.get(id), wasAlone: intents.length === 1 })),
        ),
        // A lost connection leaves the outcome unknown. Any other error applies to the whole statement.
        Effect.catchIf((error) => error.reason._tag === "ConnectionError", Effect.die),
      )

    const insertSoon = yield* Batcher.make<Intent, Inserted, SqlError.SqlError>({
      // Intents with a common key must not share a statement.
      keysOf: ({ attempt, names }) => [attempt.idempotencyKey, ...names],
      retriesAlone: isRefused,
      run: insertTogether,
    })

    /** The attempt's number, null without a pool, undefined if not made. Only an insertion alone is conclusive. */
    const numberOf = (intent: Intent) => {
      const alone = Effect.map(insertTogether([intent]), ([one]) => one?.number)
      return insertSoon(intent).pipe(
        Effect.flatMap(({ number, wasAlone }) => (number === undefined && !wasAlone ? alone : Effect.succeed(number))),
        Effect.catchIf(
          (error) => error.reason._tag === "UniqueViolation",
          () => Effect.undefined,
        ),
        Effect.orDie,
      )
    }

    /** Why a claim without conflict was not made; none if the reason has passed. */
    const obstacle = Effect.fnUntraced(function* ({ amountAtomic, balance, payment }: NewAttempt) {
      if (balance === undefined) return Option.none<ClaimOutcome>()
      const payer = walletOf(payment)
      const [row] = yield* sql`
        SELECT ${sql.literal(inFlightMaximum)} AS most FROM payment_payers p WHERE p.name = ${payer}`.pipe(Effect.orDie)
      const { most } = row === undefined ? unknownPayer : yield* readPayer(row)
      const rows = yield* sql`
        SELECT payment #>> '{authorization,nonce}' AS nonce, amount_atomic::text AS amount_atomic, state FROM payment_attempts
        WHERE payer = ${payer} AND state = 'pending'
        UNION ALL (
          SELECT payment #>> '{authorization,nonce}', amount_atomic::text, state FROM payment_attempts
          WHERE payer = ${payer} AND state = 'settled' AND ended_at > ${sinceOf(balance)}::timestamptz
          ORDER BY ended_at DESC LIMIT 64
        )`.pipe(Effect.orDie)
      const payments = yield* Effect.forEach(rows, readInFlight)
      const tooMany = payments.filter(({ state }) => state === "pending").length >= most
      const total = payments.reduce((sum, one) => sum + one.amountAtomic, amountAtomic)
      return tooMany || total > balance.balanceAtomic
        ? Option.some<ClaimOutcome>({ _tag: "Overdrawn", tooMany, most, inFlight: payments })
        : Option.none()
    })

    /** A payment that was paid back buys nothing. */
    const isRefunded = ({ payment }: NewAttempt) =>
      sql`SELECT 1 FROM payment_refunds WHERE payment = ${claimOf(payment)}`.pipe(
        Effect.orDie,
        Effect.map((rows) => rows.length > 0),
      )

    const claim = Effect.fnUntraced(function* (attempt: NewAttempt): Effect.fn.Return<ClaimOutcome> {
      const traceparent = (yield* Trace.current) ?? null
      const intent: Intent = { id: randomUUID(), attempt, traceparent, names: namesOf(attempt) }
      const number = yield* numberOf(intent)
      if (number !== undefined) return { _tag: "Claimed", attempt: pendingAttempt(intent, number) }
      const found = yield* lookup.state(attempt.idempotencyKey, attempt.claims, attempt.payment)
      const state = { ...found, paymentBound: found.paymentBound || (yield* isRefunded(attempt)) }
      const isTaken = Option.isSome(state.attempt) || state.paymentBound || state.conflicts.length > 0
      const hindered = isTaken ? Option.none() : yield* obstacle(attempt)
      return Option.getOrElse(hindered, () => ({ _tag: "Conflict" as const, state }))
    }, Trace.span("Claim.claim"))

    return { claim }
  }),
}) {
  static readonly layer = Layer.effect(this, this.make)
}
