/** Reads attempts: by key, by held claims, and counts. */
import * as Batcher from "../../platform/Batcher.ts"
import { Clock, Context, Effect, Layer, Option, Schema } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { Moment, rowReader, rowsOf, Whole } from "../../platform/Rows.ts"
import { bounded, literal, respelled } from "../../platform/Sql.ts"
import { finalitySeconds } from "../../../schema/payments/Held.ts"
import { timestampOf } from "../../platform/Time.ts"
import type { ClaimConflict, Claims } from "../Act.ts"
import { claimOf, type Payment, railNames } from "../Payment.ts"
import { type Attempt, attemptColumns, readAttempt } from "./Attempt.ts"

export interface AttemptState {
  readonly attempt: Option.Option<Attempt>
  readonly conflicts: ReadonlyArray<ClaimConflict>
  /** Whether any attempt holds the payment. */
  readonly paymentBound: boolean
}

const readClaims = rowReader(
  "payment_claims",
  Schema.Struct({
    id: Schema.NullOr(Schema.String),
    held: Schema.NullOr(
      Schema.Array(
        Schema.Struct({ name: Schema.String, settled: Schema.Boolean, payableUntil: Schema.NullOr(Schema.Finite) }),
      ),
    ),
    drawn: Schema.NullOr(Schema.Int),
    payableUntil: Schema.NullOr(Schema.Finite),
  }),
)

/** When the holder's payment is decided at the latest. Absent once that time is past, since blocks became final too slowly. */
const heldFrom = (payableUntil: number | null, nowMillis: number) => {
  const millis = ((payableUntil ?? 0) + finalitySeconds) * 1000
  return millis < nowMillis ? {} : { heldUntil: timestampOf(millis) }
}

const Counts = Schema.Struct({
  pending: Whole,
  /** Seconds since the oldest pending attempt was accepted, by the database's clock; 0 without one. */
  oldestSeconds: Schema.Finite,
  settled: Whole,
  /** Lost in a reorganisation and not acknowledged. */
  lost: Whole,
  unfinal: Whole,
})
const countsOf = rowsOf("payment_attempts", Counts)

const readCount = rowReader("payment_attempts", Schema.Struct({ n: Schema.BigInt }))

/** One lookup of a shared statement: an attempt by key, the holders of claims, and the drawn numbers of a pool. */
interface AttemptLookup {
  readonly key: string
  readonly names: ReadonlyArray<string>
  readonly pool: string | null
  readonly capacity: number
}

/** Ether an hour from which lost gas is reported: on Base, the fees of a thousand failed transfers or more. */
export const gasLossMaximum = 0.001

const gasLostOf = rowsOf("relayer_broadcasts", Schema.Struct({ ether: Schema.Finite }))

export class Lookup extends Context.Service<
  Lookup,
  {
    /** The attempt under a key and who holds its claims, in one round trip shared with concurrent callers. */
    readonly state: (key: string, claims: Claims, payment?: Payment) => Effect.Effect<AttemptState, SqlError.SqlError>
    /** The attempt under a key; none if no payment was accepted under it. */
    readonly find: (key: string) => Effect.Effect<Option.Option<Attempt>, SqlError.SqlError>
    /** Whether a payment of this wallet has settled here. */
    readonly hasPaid: (wallet: string) => Effect.Effect<boolean, SqlError.SqlError>
    /** The number of pending attempts. */
    readonly pending: Effect.Effect<number, SqlError.SqlError>
    /** Counts for monitoring, read from indexes only. */
    readonly counts: Effect.Effect<typeof Counts.Type, SqlError.SqlError>
    /** Ether that transactions which did not pay have cost our relayers in the last hour. */
    readonly gasLostEther: Effect.Effect<number, SqlError.SqlError>
    /** The number of settled acts whose transfer was orphaned for good and that no operator has acknowledged. */
    readonly lost: Effect.Effect<number, SqlError.SqlError>
  }
>()("spirit-altar/payments/store/Lookup") {
  static readonly make = Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const columns = sql.literal(attemptColumns)

    // One JSON parameter for any number of lookups keeps one query plan. The lateral joins with LIMIT make the planner
    // use indexes: it cannot estimate the length of a list and would scan whole tables.
    const [text] = sql`
      SELECT a.*, held.held, p.drawn, CASE WHEN p.drawn >= r.capacity THEN (
          SELECT min(valid_before)::float8 FROM payment_attempts WHERE pool = r.pool AND state = 'pending'
        ) END AS "payableUntil"
      FROM json_to_recordset(${""}::json) AS r(place int, key text, names json, pool text, capacity int)
      LEFT JOIN LATERAL (
        SELECT highest - cardinality(released) AS drawn FROM payment_pools WHERE name = r.pool LIMIT 1
      ) AS p ON true
      LEFT JOIN LATERAL (SELECT ${columns} FROM payment_attempts WHERE idempotency_key = r.key LIMIT 1) AS a ON true
      LEFT JOIN LATERAL (
        SELECT json_agg(json_build_object('name', n.name, 'settled', COALESCE(o.state = 'settled', true),
          'payableUntil', o.valid_before) ORDER BY n.name) AS held
        FROM json_array_elements_text(r.names) AS n(name)
        CROSS JOIN LATERAL (SELECT attempt_id FROM payment_claims WHERE name = n.name LIMIT 1) AS c
        LEFT JOIN LATERAL (SELECT state, valid_before FROM payment_attempts WHERE id = c.attempt_id LIMIT 1) AS o ON true
      ) AS held ON true
      ORDER BY r.place`.compile()
    const rowSoon = yield* Batcher.make<AttemptLookup, object, SqlError.SqlError>({
      run: (lookups) => {
        // Most keys have no attempt, so column names are converted only for those that have one.
        const rows = JSON.stringify(lookups.map((lookup, place) => ({ place, ...lookup })))
        return bounded(sql.unsafe<object>(text, [rows]).withoutTransform)
      },
    })

    const state = Effect.fnUntraced(function* (
      key: string,
      claims: Claims,
      payment?: Payment,
    ): Effect.fn.Return<AttemptState, SqlError.SqlError> {
      const bound = payment === undefined ? "" : claimOf(payment)
      const names = bound === "" ? claims.slots : [...claims.slots, bound]
      const row = yield* rowSoon({ key, names, pool: claims.pool?.name ?? null, capacity: claims.pool?.capacity ?? 0 })
      const claimed = yield* readClaims(row)
      const taken = claimed.held ?? []
      const now = yield* Clock.currentTimeMillis
      const slots = taken.flatMap((claim): ReadonlyArray<ClaimConflict> =>
        claim.name === bound
          ? []
          : [{ _tag: "Slot", name: claim.name, settled: claim.settled, ...heldFrom(claim.payableUntil, now) }],
      )
      const isFull = claims.pool !== undefined && (claimed.drawn ?? 0) >= claims.pool.capacity
      return {
        attempt: claimed.id === null ? Option.none() : Option.some(yield* readAttempt(respelled(row))),
        conflicts: isFull
          ? [...slots, { _tag: "Pool", name: claims.pool.name, ...heldFrom(claimed.payableUntil, now) }]
          : slots,
        paymentBound: taken.some((claim) => claim.name === bound),
      }
    })

    const find = Effect.fn("Lookup.find")(function* (key: string) {
      const [row] = yield* sql`SELECT ${columns} FROM payment_attempts WHERE idempotency_key = ${key}`.pipe(bounded)
      return row === undefined ? Option.none() : Option.some(yield* readAttempt(row))
    })

    const count = (where: string) =>
      sql`SELECT count(*) AS n FROM payment_attempts WHERE ${sql.literal(where)}`.pipe(
        Effect.flatMap(([row]) => readCount(row)),
        Effect.map(({ n }) => Number(n)),
      )

    const hasPaid = Effect.fn("Lookup.hasPaid")(function* (wallet: string) {
      const rows =
        yield* sql`SELECT 1 FROM payment_attempts WHERE payer = ${wallet.toLowerCase()} AND state = 'settled' LIMIT 1`.pipe(
          bounded,
        )
      return rows.length > 0
    })

    const counted = countsOf(sql`
      SELECT open.pending, open.oldest_seconds,
        (SELECT settled FROM payment_totals WHERE id = 1) AS settled,
        (SELECT count(*) FROM payment_attempts WHERE finality = 'lost' AND acknowledged_at IS NULL) AS lost,
        (SELECT count(*) FROM payment_attempts
          WHERE state = 'settled' AND finality = 'pending' AND rail = 'x402') AS unfinal
      FROM (
        SELECT count(*) AS pending,
          coalesce(extract(epoch FROM now() - min(accepted_at)), 0)::float8 AS oldest_seconds
        FROM payment_attempts WHERE state = 'pending'
      ) AS open`)

    return {
      state,
      find,
      hasPaid,
      pending: count("state = 'pending'"),
      counts: Effect.flatMap(counted, ([row]) =>
        row === undefined ? Effect.die("the database counted nothing") : Effect.succeed(row),
      ),
      gasLostEther: Effect.map(
        gasLostOf(sql`
          SELECT (coalesce(sum(lost_wei), 0) / 1e18)::float8 AS ether FROM relayer_broadcasts
          WHERE lost_at > now() - interval '1 hour'`),
        ([row]) => row?.ether ?? 0,
      ),
      lost: count("finality = 'lost' AND acknowledged_at IS NULL"),
    }
  })
  static readonly layer = Layer.effect(this, this.make)
}

const Row = Schema.Struct({
  id: Schema.String,
  idempotencyKey: Schema.String,
  act: Schema.String,
  rail: Schema.Literals(railNames),
  state: Schema.Literals(["pending", "settled", "failed"]),
  finality: Schema.String,
  /** Null for a card, like its expiry. */
  payer: Schema.NullOr(Schema.String),
  amountAtomic: Schema.String,
  acceptedAt: Moment,
  endedAt: Schema.NullOr(Moment),
  ageSeconds: Schema.Int,
  /** Expiry of the signed payment, in seconds since 1970. */
  validBefore: Schema.NullOr(Schema.String),
  isPayable: Schema.Boolean,
  checks: Schema.Int,
  nextCheckAt: Moment,
  reason: Schema.NullOr(Schema.String),
  doubtedReason: Schema.NullOr(Schema.String),
  doubtedAt: Schema.NullOr(Moment),
  transaction: Schema.NullOr(Schema.String),
  broadcast: Schema.NullOr(Schema.String),
  broadcastNonce: Schema.NullOr(Schema.String),
  broadcastAt: Schema.NullOr(Moment),
})
export type InspectedAttempt = typeof Row.Type

const attemptsOf = rowsOf("payment_attempts", Row)

const isUuid = (text: string) => /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/u.test(text)

const columns = literal(`a.id, a.idempotency_key, a.act, a.rail, a.state, a.finality, a.payer,
  a.amount_atomic::text AS amount_atomic, a.accepted_at, a.ended_at,
  extract(epoch FROM clock_timestamp() - a.accepted_at)::int AS age_seconds, a.valid_before::text AS valid_before,
  COALESCE(a.valid_before > extract(epoch FROM clock_timestamp()), true) AS is_payable, a.checks, a.next_check_at, a.reason,
  a.doubted_reason, a.doubted_at, COALESCE(a.current_transaction, a.transaction) AS transaction, b.hash AS broadcast,
  b.nonce::text AS broadcast_nonce, b.sent_at AS broadcast_at`)
const source = literal("payment_attempts a LEFT JOIN relayer_broadcasts b ON b.attempt_id = a.id")

/** Pending attempts, and settled ones that are lost and not acknowledged; oldest first. */
export const unresolved = Effect.fn("Lookup.unresolved")(function* (limit: number) {
  const sql = yield* SqlClient.SqlClient
  return yield* attemptsOf(sql`
    SELECT ${columns} FROM ${source}
    WHERE a.state = 'pending' OR (a.finality = 'lost' AND a.acknowledged_at IS NULL)
    ORDER BY a.accepted_at, a.id LIMIT ${limit}::int`)
})

/** Attempts with this idempotency key, id, transaction or wallet; newest first. */
export const inspect = Effect.fn("Lookup.inspect")(function* (what: string, limit: number) {
  const sql = yield* SqlClient.SqlClient
  const hex = what.toLowerCase()
  const which = /^0x[0-9a-f]{64}$/u.test(hex)
    ? sql`a.transaction = ${hex} OR a.current_transaction = ${hex} OR b.hash = ${hex}`
    : /^0x[0-9a-f]{40}$/u.test(hex)
      ? sql`a.payer = ${hex}`
      : isUuid(what)
        ? sql`a.id = ${what}::uuid OR a.idempotency_key = ${what}`
        : sql`a.idempotency_key = ${what}`
  return yield* attemptsOf(
    sql`SELECT ${columns} FROM ${source} WHERE ${which} ORDER BY a.accepted_at DESC, a.id LIMIT ${limit}::int`,
  )
})
