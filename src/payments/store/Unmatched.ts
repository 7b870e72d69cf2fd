/** Payments to us that belong to no purchase: one row each, for the operator. */
import { Context, Effect, Layer, Option, Schema } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { log } from "../../platform/LogMessages.ts"
import { centAtomic } from "../../../schema/payments/Usdc.ts"
import { rowReader, rowsOf } from "../../platform/Rows.ts"
import { part, retryConflicts } from "../../platform/Sql.ts"
import { inLowerCase, Word } from "../x402/chain/Eip3009.ts"
import { type ChainPayment, claimOf, type Payment } from "../Payment.ts"
import type { Attempt, FailedAttempt } from "./Attempt.ts"

/** Recorded payments of unknown buyers below the lowest price, not refunded: they cost their senders little. All others are recorded. */
const unknownAtMost = 10_000

/** Maximum transfers that one statement judges. */
const judgedAtOnce = 500

const readRow = rowReader("unmatched_payments", Schema.Struct({ transaction: Word, recordedAt: Schema.Date }))
const readPaid = rowReader(
  "unmatched_payments",
  Schema.Struct({ transaction: Schema.String, isRecorded: Schema.Boolean }),
)
const judgedRows = rowsOf(
  "chain_transfers",
  Schema.Struct({
    transaction: Schema.String,
    amountAtomic: Schema.String,
    attempt: Schema.NullOr(Schema.String),
    isRecorded: Schema.Boolean,
  }),
)

/** Transfers with the attempt that holds each authorization, and whether they pay its price. */
const withAttempts = (transfers: Statement.Fragment) => part`
  SELECT t.*, a.id AS attempt, a.state, a.valid_before,
    COALESCE(a.amount_atomic = t.amount_atomic AND a.payment #>> '{authorization,to}' = t.pay_to, false) AS pays
  FROM ${transfers} t LEFT JOIN payment_claims c ON c.name = t.name
    LEFT JOIN payment_attempts a ON a.id = c.attempt_id`

/** Final transfers that are not judged. */
const dueTransfers = part`
  ${withAttempts(part`chain_transfers`)}
  WHERE t.is_final AND NOT t.is_judged ORDER BY t.block LIMIT ${judgedAtOnce}::int FOR UPDATE OF t SKIP LOCKED`

/** Records those of `due` that pay no act. A buyer without an attempt can still buy with one for these seconds. */
const recordDue = (claimableSeconds: number) => part`
  INSERT INTO unmatched_payments (name, network, asset, pay_to, payer, nonce, amount_atomic, valid_before,
    transaction, recorded_at, attempt)
  SELECT name, network, asset, pay_to, payer, nonce, amount_atomic,
    COALESCE(valid_before, extract(epoch FROM now())::bigint + ${claimableSeconds}::int), transaction, now(), attempt
  FROM due WHERE NOT (pays AND state IN ('pending', 'settled'))
    AND (attempt IS NOT NULL OR amount_atomic >= ${centAtomic}::bigint OR (SELECT count(*) FROM unmatched_payments s
      WHERE s.attempt IS NULL AND s.amount_atomic < ${centAtomic}::bigint
        AND NOT EXISTS (SELECT FROM payment_refunds f WHERE f.payment = s.name)) < ${unknownAtMost}::int)
  ON CONFLICT (name) DO UPDATE SET name = excluded.name RETURNING name`

const recordedOfDue = part`
  SELECT d.transaction, d.amount_atomic::text AS amount_atomic, d.attempt, w.name IS NOT NULL AS is_recorded
  FROM due d LEFT JOIN written w ON w.name = d.name WHERE NOT (d.pays AND d.state IN ('pending', 'settled'))`

const report = (judged: Effect.Success<ReturnType<typeof judgedRows>>) =>
  Effect.forEach(
    judged,
    ({ amountAtomic, attempt, isRecorded, transaction }) =>
      log(isRecorded ? "unmatched payment" : "unmatched payment not recorded", {
        transaction,
        amountAtomic,
        attempt: attempt ?? undefined,
      }),
    { discard: true },
  )

/** SQL that deletes unmatched payments whose authorizations have bought something after all. */
export const deleteMatched = (payments: ReadonlyArray<Payment>) =>
  part`DELETE FROM unmatched_payments WHERE name = ANY(${payments.filter(({ rail }) => rail === "x402").map(claimOf)}::text[])`

export class UnmatchedPayments extends Context.Service<UnmatchedPayments>()("spirit-altar/payments/store/Unmatched", {
  make: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient

    /** The recorded payment of an authorization, and when it was recorded. */
    const find = Effect.fn("UnmatchedPayments.find")(function* (payment: ChainPayment) {
      const [row] = yield* sql`SELECT transaction, recorded_at FROM unmatched_payments WHERE name = ${claimOf(payment)}`
      if (row === undefined) return Option.none()
      const { recordedAt, transaction } = yield* readRow(row)
      return Option.some({ transaction, recordedAtMillis: recordedAt.getTime() })
    })

    /**
     * The transaction, or card intent, that paid for a failed attempt. A payment judged before its claim is recorded by
     * name alone, and one that is not judged yet is a scanned transfer.
     */
    const ofFailed = Effect.fn("UnmatchedPayments.ofFailed")(function* ({ id, payment }: FailedAttempt) {
      const name = claimOf(payment)
      const [row] = yield* sql`
        SELECT transaction, true AS is_recorded, recorded_at FROM unmatched_payments
          WHERE attempt = ${id}::uuid OR name = ${name}
        UNION ALL SELECT transaction, false, NULL FROM chain_transfers WHERE name = ${name}
        ORDER BY recorded_at LIMIT 1`
      return row === undefined ? Option.none() : Option.some(yield* readPaid(row))
    })

    /** A request may have claimed a payment, and settled, in the moment before the payment was recorded. */
    const forgetSettled = sql`
      DELETE FROM unmatched_payments s USING payment_claims c, payment_attempts a
      WHERE s.recorded_at > now() - interval '1 hour' AND c.name = s.name AND a.id = c.attempt_id
        AND a.state = 'settled' AND a.amount_atomic = s.amount_atomic AND a.payment #>> '{authorization,to}' = s.pay_to`

    /**
     * Judges final transfers once each: one that an act was settled by is that act's, any other is recorded as unmatched,
     * with the attempt that holds its authorization. One of a pending attempt waits for it.
     */
    const judge = Effect.fn("UnmatchedPayments.judge")(function* (longestLife: number) {
      const judged = yield* judgedRows(
        retryConflicts(sql`
          WITH due AS MATERIALIZED (${dueTransfers}), ended AS (
            UPDATE chain_transfers t SET is_judged = true FROM due d
            WHERE t.name = d.name AND NOT (d.pays AND d.state = 'pending')
          ), written AS (${recordDue(longestLife)}) ${recordedOfDue}`),
      )
      yield* retryConflicts(forgetSettled)
      yield* report(judged)
    })

    /** Forgets transfers that were judged a day ago: no authorization lives as long. */
    const prune = sql`
      DELETE FROM chain_transfers t USING chain_scans s
      WHERE s.network = t.network AND s.asset = t.asset AND t.is_judged AND t.block < s.final_block - 86400`.pipe(
      retryConflicts,
    )

    /**
     * Records a final transfer that the scan lacks by the rules of the scan, such as one in a block with more logs than
     * its node answers with. It can no longer buy anything.
     */
    const recordTransfer = Effect.fn("UnmatchedPayments.recordTransfer")(function* (
      { authorization, network }: Pick<ChainPayment, "authorization" | "network">,
      { amount, transaction }: { readonly amount: bigint; readonly transaction: string },
    ) {
      const { asset, from, nonce, to } = authorization
      const name = claimOf({ rail: "x402", network, authorization })
      const [token, payTo] = [asset, to].map(inLowerCase)
      const transfer = part`(
        SELECT ${name}::text AS name, ${network}::text AS network, ${token}::text AS asset, ${payTo}::text AS pay_to,
          ${from}::text AS payer, ${nonce}::text AS nonce, ${String(amount)}::numeric AS amount_atomic,
          ${transaction}::text AS transaction)`
      const isNew = part`NOT EXISTS (SELECT FROM unmatched_payments s WHERE s.name = t.name)`
      const judged = yield* judgedRows(
        retryConflicts(sql`
          WITH due AS MATERIALIZED (${withAttempts(transfer)} WHERE ${isNew}), written AS (${recordDue(0)})
          ${recordedOfDue}`),
      )
      yield* report(judged)
    })

    /** Records a card's charge for an attempt that had already failed. Its token is erased; one intent is one charge. */
    const recordCharge = Effect.fn("UnmatchedPayments.recordCharge")(function* (attempt: Attempt, intent: string) {
      const { amountAtomic, id } = attempt
      const fields = { transaction: intent, amountAtomic: String(amountAtomic), attempt: id }
      const written = yield* retryConflicts(sql`
        INSERT INTO unmatched_payments (name, amount_atomic, transaction, recorded_at, attempt)
        VALUES (${`card-intent:${intent}`}, ${String(amountAtomic)}::numeric, ${intent}, now(), ${id}::uuid)
        ON CONFLICT (name) DO NOTHING RETURNING name`).pipe(
        Effect.tapError(() => log("unmatched payment not recorded", fields)),
      )
      if (written.length > 0) yield* log("unmatched payment", fields)
    })

    return { find, ofFailed, judge, prune, recordTransfer, recordCharge }
  }),
}) {
  static readonly layer = Layer.effect(this, this.make)
}
