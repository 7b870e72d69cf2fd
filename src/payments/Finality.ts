/** Looks at every settled transfer again once its block is final: still there, found elsewhere, or lost. */
import { type Cause, Clock, Context, Duration, Effect, Layer, Option, Schedule } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { retryConflicts } from "../platform/Sql.ts"
import { type AttemptRow, doubtAge, doubtOf } from "./ledger/Attempt.ts"
import { timestampOf } from "../platform/Time.ts"
import { Chain } from "./x402/Chain.ts"
import type { Evidence } from "./x402/Evidence.ts"
import { paymentOf, type PaymentRow } from "./Payment.ts"

export interface FinalityConfig {
  /** Pause between two sweeps, and the least time between two looks that agree that a transfer is lost. */
  readonly sweepEvery: Duration.Duration
}

interface Row extends PaymentRow, Pick<AttemptRow, "id" | "checks" | "doubtedReason" | "doubtedAt" | "doubtAge"> {
  readonly act: string
  readonly currentTransaction: `0x${string}` | null
}

/** Settled transfers one sweep looks at. */
const sweepSize = 200

/** Milliseconds a sweep keeps what it took; any number of servers may sweep at once. */
const leaseMillis = 60_000

/** Milliseconds until what could not be told is looked at again: from 2 s to an hour. */
const nextLook = (checks: number) => Math.min(3_600, 2 ** Math.min(checks + 1, 12)) * 1000

export class Finality extends Context.Service<
  Finality,
  {
    /** Looks at settled transfers whose block should be final by now; returns how many. */
    readonly sweep: Effect.Effect<number, SqlError.SqlError>
  }
>()("spirit-altar/payments/Finality") {
  static readonly layer = (config: FinalityConfig) =>
    Layer.effect(
      Finality,
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const chain = yield* Chain
        const apart = Duration.toMillis(config.sweepEvery)

        const unfinal = sql.literal("state = 'settled' AND finality = 'pending' AND rail = 'x402'")
        const columns = sql.literal(
          ["id", "act", "rail", "network", "asset", "pay_to", "payer", "nonce", "amount_atomic::text AS amount_atomic"]
            .concat(["valid_after::text AS valid_after", "valid_before", "signature", "from_block", "transaction"])
            .concat(["current_transaction", "checks", "doubted_reason", "doubted_at", doubtAge])
            .join(", "),
        )

        /** Whatever is not settled in a block above the final one, and nobody else has in hand. */
        const take = Effect.fnUntraced(function* (final: bigint) {
          const now = yield* Clock.currentTimeMillis
          return yield* retryConflicts(sql<Row>`
            UPDATE payment_attempts SET next_check_at = ${timestampOf(now + leaseMillis)}::timestamptz
            WHERE id IN (
              SELECT id FROM payment_attempts
              WHERE ${unfinal} AND next_check_at <= ${timestampOf(now)}::timestamptz
                AND (settled_block IS NULL OR settled_block <= ${final}::bigint)
              ORDER BY next_check_at LIMIT ${sweepSize}::int FOR UPDATE SKIP LOCKED)
            RETURNING ${columns}`)
        })

        const isAnyDue = Effect.gen(function* () {
          const now = timestampOf(yield* Clock.currentTimeMillis)
          const rows = yield* sql`
            SELECT 1 FROM payment_attempts WHERE ${unfinal} AND next_check_at <= ${now}::timestamptz LIMIT 1`
          return rows.length > 0
        })

        /** The transfer is in this block now; `finality` says whether that is for good. */
        const found = (row: Row, evidence: Evidence & { readonly _tag: "Paid" }, finality: "pending" | "final") => {
          const { block, transaction } = evidence
          const moved = transaction.toLowerCase() === row.transaction?.toLowerCase() ? null : transaction.toLowerCase()
          return sql`
            UPDATE payment_attempts SET finality = ${finality}, settled_block = ${block.number}::bigint,
              current_transaction = ${moved}::text, doubted_at = NULL, doubted_reason = NULL
            WHERE id = ${row.id}::uuid AND ${unfinal}`
        }

        const open = Effect.fnUntraced(function* (row: Row, doubt: string | null, pauseMillis: number) {
          const until = timestampOf((yield* Clock.currentTimeMillis) + pauseMillis)
          yield* sql`
            UPDATE payment_attempts SET checks = checks + 1, next_check_at = ${until}::timestamptz,
              doubted_reason = ${doubt}::text, doubted_at = CASE WHEN ${doubt}::text IS NULL THEN NULL
                WHEN doubted_reason = ${doubt}::text THEN doubted_at ELSE now() END
            WHERE id = ${row.id}::uuid AND ${unfinal}`
        })

        /** The row stays and so does its answer; whoever finds it out first rings the alarm. */
        const lose = Effect.fnUntraced(function* (row: Row, reason: string, doubtedAt: string) {
          const lost = yield* sql`
            UPDATE payment_attempts SET finality = 'lost'
            WHERE id = ${row.id}::uuid AND ${unfinal}
              AND doubted_reason = ${reason}::text AND doubted_at = ${doubtedAt}::timestamptz
            RETURNING id`
          if (lost.length > 0)
            yield* Effect.logError(
              `The payment of ${row.act} ${row.id} is lost: the block of ${row.transaction} was reorganised away (${reason}). The act stays and is marked; the payer was not charged. /api/health fails until an operator acknowledges it`,
            )
        })

        const look = Effect.fn("Finality.look")(function* (row: Row) {
          const payment = paymentOf(row)
          if (payment.rail === "card") return
          const transaction = Option.orElse(Option.fromNullishOr(row.currentTransaction), () => payment.transaction)
          const { authorization, fromBlock } = payment
          const evidence = yield* chain.evidence({ authorization, fromBlock, transaction, patience: Duration.zero })
          switch (evidence._tag) {
            case "Paid": {
              const isFinal = yield* chain.isFinal(evidence.block)
              yield* found(row, evidence, isFinal ? "final" : "pending")
              return
            }
            case "Void": {
              const before = doubtOf(row)
              return before?.reason === evidence.reason && before.ageMillis >= apart
                ? yield* lose(row, evidence.reason, before.at)
                : yield* open(row, evidence.reason, apart)
            }
            case "Open":
              return yield* open(row, null, nextLook(row.checks))
          }
        })

        const sweep = Effect.gen(function* () {
          if (!(yield* isAnyDue)) return 0
          const final = yield* Effect.option(chain.final)
          if (Option.isNone(final)) return 0
          const rows = yield* take(final.value.number)
          yield* Effect.forEach(
            rows,
            (row) =>
              Effect.catchCause(look(row), (cause) =>
                Effect.logWarning("The finality of a payment could not be looked at", row.id, cause),
              ),
            { concurrency: 8, discard: true },
          )
          return rows.length
        }).pipe(Effect.withSpan("Finality.sweep"))

        yield* sweep.pipe(
          Effect.catchCause((cause: Cause.Cause<unknown>) => Effect.logError("The finality sweep failed", cause)),
          Effect.repeat(Schedule.spaced(config.sweepEvery)),
          Effect.forkScoped,
        )

        return Finality.of({ sweep })
      }),
    )
}
