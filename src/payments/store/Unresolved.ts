/** A read-only view of attempts for the operator: their evidence, submissions and next inquiry. */
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Moment, rowsOf } from "../../platform/Rows.ts"
import { literal } from "../../platform/SqlPart.ts"

const Row = Schema.Struct({
  id: Schema.String,
  idempotencyKey: Schema.String,
  act: Schema.String,
  rail: Schema.Literals(["x402", "card"]),
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
  refusal: Schema.NullOr(Schema.String),
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
  COALESCE(a.valid_before > extract(epoch FROM clock_timestamp()), true) AS is_payable, a.checks, a.next_check_at, a.reason, a.refusal,
  a.doubted_reason, a.doubted_at, COALESCE(a.current_transaction, a.transaction) AS transaction, b.hash AS broadcast,
  b.nonce::text AS broadcast_nonce, b.sent_at AS broadcast_at`)
const source = literal("payment_attempts a LEFT JOIN relayer_broadcasts b ON b.attempt_id = a.id")

/** Pending attempts, and settled ones that are lost and not acknowledged; oldest first. */
export const list = Effect.fn("Unresolved.list")(function* (limit: number) {
  const sql = yield* SqlClient.SqlClient
  return yield* attemptsOf(sql`
    SELECT ${columns} FROM ${source}
    WHERE a.state = 'pending' OR (a.finality = 'lost' AND a.acknowledged_at IS NULL)
    ORDER BY a.accepted_at, a.id LIMIT ${limit}::int`)
})

/** Attempts with this idempotency key, id, transaction or wallet; newest first. */
export const find = Effect.fn("Unresolved.find")(function* (what: string, limit: number) {
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
