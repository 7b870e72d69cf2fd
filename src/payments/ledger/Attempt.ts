/** A paid request once its intent is on disk: what was asked, what was signed, and how it ended. */
import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import { rowReader } from "../../platform/Rows.ts"
import { type Payment, paymentColumns, readPayment } from "../Payment.ts"

/** One inquiry's reason to end an attempt as unpaid, which a later inquiry has to agree with. */
export interface FailureVerdict {
  readonly reason: string
  /** RFC 3339 UTC with milliseconds, by the database's clock. */
  readonly at: string
  /** Milliseconds that had passed when the attempt was read, by the database's clock: those of several servers differ. */
  readonly ageMillis: number
}

interface AttemptFacts {
  readonly id: string
  readonly idempotencyKey: string
  /** SHA-256 over method, canonical URL and canonical body. */
  readonly fingerprint: string
  readonly act: string
  readonly url: string
  readonly input: Schema.Json
  /** Atomic USDC, however it is paid. */
  readonly amountAtomic: bigint
  readonly payment: Payment
  /** The number drawn from the pool, if the act claims one. */
  readonly number: number | null
  /** What a facilitator refused it with, before any broadcast as it says. */
  readonly refusal: string | null
  /** Why the last inquiry would have failed it; null when that one found it open, or none did find anything. */
  readonly pendingFailure: FailureVerdict | null
  /** RFC 3339 UTC with milliseconds, as are all times here. */
  readonly acceptedAt: string
  readonly checks: number
  /** W3C `traceparent` of the request that made it; null where that was not traced. */
  readonly traceparent?: string | null
}

export interface PendingAttempt extends AttemptFacts {
  readonly state: "pending"
}

export interface SettledAttempt extends AttemptFacts {
  readonly state: "settled"
  /** The exact first answer; its last member is `"replayed":false`. */
  readonly answer: string
  /** What the answer says of the payment in its header. */
  readonly paymentResponse: string
}

export interface FailedAttempt extends AttemptFacts {
  readonly state: "failed"
  readonly reason: string
}

export type Attempt = PendingAttempt | SettledAttempt | FailedAttempt

/** The columns a verdict is read from, as SQL. */
export const verdictColumns: ReadonlyArray<string> = [
  "doubted_reason, doubted_at, (extract(epoch FROM now() - doubted_at) * 1000)::float8 AS doubt_age",
]

const readReason = rowReader("payment_attempts", Schema.Struct({ doubtedReason: Schema.NullOr(Schema.String) }))
const readTimes = rowReader("payment_attempts", Schema.Struct({ doubtedAt: Schema.Date, doubtAge: Schema.Finite }))

/** The verdict in a row of `payment_attempts`. */
export const readVerdict = Effect.fnUntraced(function* (row: unknown): Effect.fn.Return<FailureVerdict | null> {
  const { doubtedReason: reason } = yield* readReason(row)
  if (reason === null) return null
  const { doubtAge: ageMillis, doubtedAt } = yield* readTimes(row)
  return { reason, at: doubtedAt.toISOString(), ageMillis }
})

/** SQL that sets the verdict of an inquiry, and keeps the time of one that said the same before. */
export const setVerdict = (sql: SqlClient.SqlClient, reason: string | null) =>
  sql`doubted_reason = ${reason}::text, doubted_at = CASE WHEN ${reason}::text IS NULL THEN NULL
    WHEN doubted_reason = ${reason}::text THEN doubted_at ELSE now() END`

/** SQL for the signature of an attempt that ends: a card's token is kept as long as it is needed, and no longer. */
export const withoutCardToken = "CASE WHEN rail = 'card' THEN '' ELSE signature END"

/** The columns an attempt is read from, as SQL. */
export const attemptColumns = [
  "id, idempotency_key, fingerprint, act, url, input, pool_number, refusal, accepted_at, checks, traceparent",
  "state, reason, answer, payment_response",
  ...paymentColumns,
  ...verdictColumns,
].join(", ")

const facts = {
  id: Schema.String,
  idempotencyKey: Schema.String,
  fingerprint: Schema.String,
  act: Schema.String,
  url: Schema.String,
  input: Schema.fromJsonString(Schema.Json),
  amountAtomic: Schema.BigIntFromString,
  poolNumber: Schema.NullOr(Schema.Int),
  refusal: Schema.NullOr(Schema.String),
  acceptedAt: Schema.Date,
  checks: Schema.Int,
  traceparent: Schema.optionalKey(Schema.NullOr(Schema.String)),
}

const AttemptRow = Schema.Union([
  Schema.Struct({ ...facts, state: Schema.Literal("pending") }),
  Schema.Struct({
    ...facts,
    state: Schema.Literal("settled"),
    answer: Schema.String,
    paymentResponse: Schema.String,
  }),
  Schema.Struct({ ...facts, state: Schema.Literal("failed"), reason: Schema.String }),
])

const readRow = rowReader("payment_attempts", AttemptRow)

/** The attempt in a row of `payment_attempts`. */
export const readAttempt = Effect.fnUntraced(function* (row: unknown): Effect.fn.Return<Attempt> {
  const { acceptedAt, poolNumber, ...rest } = yield* readRow(row)
  const payment = yield* readPayment(row)
  const pendingFailure = yield* readVerdict(row)
  return { ...rest, number: poolNumber, acceptedAt: acceptedAt.toISOString(), payment, pendingFailure }
})
