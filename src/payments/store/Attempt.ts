/** An attempt as recorded: the request, the signed payment and the outcome. */
import { Schema } from "effect"
import { JsonMoment, Moment, rowReader } from "../../platform/Rows.ts"
import { part } from "../../platform/Sql.ts"
import { Payment } from "../Payment.ts"

/** An inquiry's reason to end an attempt as unpaid. A later inquiry has to agree. */
const Doubt = Schema.Struct({
  reason: Schema.String,
  /** RFC 3339 UTC with milliseconds, by the database's clock. */
  at: JsonMoment,
  /** Age in milliseconds at the read, by the database's clock, since the clocks of servers differ. */
  ageMillis: Schema.Finite,
})
export type Doubt = typeof Doubt.Type

/** SQL that sets the doubt of an inquiry. A repeated reason keeps its first time. */
export const setDoubt = (reason: string | null) =>
  part`doubted_reason = ${reason}::text, doubted_at = CASE WHEN ${reason}::text IS NULL THEN NULL
    WHEN doubted_reason = ${reason}::text THEN doubted_at ELSE now() END`

export const attemptColumns = `id, idempotency_key, fingerprint, act, url, input, amount_atomic::text AS amount_atomic,
  payment, pool_number AS number, accepted_at, checks, traceparent, state, reason, answer, payment_response,
  CASE WHEN doubted_reason IS NOT NULL THEN json_build_object('reason', doubted_reason, 'at', doubted_at, 'ageMillis',
    extract(epoch FROM now() - doubted_at) * 1000) END AS doubt`

const facts = {
  id: Schema.String,
  idempotencyKey: Schema.String,
  /** SHA-256 of method, canonical URL and canonical body. */
  fingerprint: Schema.String,
  act: Schema.String,
  url: Schema.String,
  input: Schema.fromJsonString(Schema.Json),
  /** Atomic USDC, for either rail. */
  amountAtomic: Schema.BigIntFromString,
  payment: Payment,
  /** The number from the pool, if the act claims one. */
  number: Schema.NullOr(Schema.Int),
  /** The last inquiry's reason to fail the attempt; null if it found the attempt open, or if none had a finding. */
  doubt: Schema.NullOr(Doubt),
  acceptedAt: Moment,
  checks: Schema.Int,
  /** W3C `traceparent` of the request that made the attempt, null if it was not traced. */
  traceparent: Schema.optionalKey(Schema.NullOr(Schema.String)),
}

const JsonObject = Schema.Record(Schema.String, Schema.Json)

/** The parts of the first answer. A replay sends them again. */
const Answer = Schema.Struct({
  record: JsonObject,
  receipt: JsonObject,
  permalink: Schema.String,
  /** Further members, such as the line of a prayer. */
  extra: JsonObject,
})
export type Answer = typeof Answer.Type

const Pending = Schema.Struct({ ...facts, state: Schema.Literal("pending") })
/** `paymentResponse` is the header of the first answer. */
const Settled = Schema.Struct({
  ...facts,
  state: Schema.Literal("settled"),
  answer: Answer,
  paymentResponse: Schema.String,
})
const Failed = Schema.Struct({ ...facts, state: Schema.Literal("failed"), reason: Schema.String })

export type PendingAttempt = typeof Pending.Type
export type SettledAttempt = typeof Settled.Type
export type FailedAttempt = typeof Failed.Type
export type Attempt = PendingAttempt | SettledAttempt | FailedAttempt

export const readAttempt = rowReader("payment_attempts", Schema.Union([Pending, Settled, Failed]))
