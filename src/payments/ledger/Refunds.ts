/** Payments that may need a refund, and the refunds themselves. */
import { randomUUID } from "node:crypto"
import { Context, Effect, Layer, Option, Schema } from "effect"
import { SqlClient, SqlError, type Statement } from "effect/sql"
import { Refund } from "../../../schema/payments/Refund.ts"
import { rowsOf } from "../../platform/Rows.ts"
import { bounded } from "../../platform/Sql.ts"
import { literal, part } from "../../platform/SqlPart.ts"
import { type ChainPayment, claimOf, columnsOf } from "../Payment.ts"
import { newestRefund, refundAct, refundJson, refunds } from "./RefundSql.ts"

/** `settled`: its act stands, and the operator returns the payment by choice. */
export const reasons = ["unmatched", "failed", "lost", "settled"] as const

const Row = Schema.Struct({
  reason: Schema.Literals(reasons),
  /** The claim of the payment, which names it. */
  payment: Schema.String,
  /** The attempt that it paid or failed to pay. */
  attempt: Schema.NullOr(Schema.String),
  network: Schema.String,
  asset: Schema.String,
  /** The wallet that was paid; null if an earlier version recorded the payment. */
  payTo: Schema.NullOr(Schema.String),
  payer: Schema.String,
  nonce: Schema.String,
  amountAtomic: Schema.BigIntFromString,
  transaction: Schema.String,
  validBefore: Schema.BigIntFromString,
  /** The first block that can hold it. */
  fromBlock: Schema.BigIntFromString,
  ageSeconds: Schema.Int,
  /** Whether its buyer can still buy with it, by the database's clock. */
  isClaimable: Schema.Boolean,
  refund: Schema.NullOr(Schema.fromJsonString(Refund)),
})
export type Returnable = typeof Row.Type

const returnables = rowsOf("payment_refunds", Row)
const texts = rowsOf("payment_refunds", Schema.Struct({ refund: Schema.String }))
const states = rowsOf("payment_refunds", Schema.Struct({ refund: Row.fields.refund }))
const ids = rowsOf("payment_refunds", Schema.Struct({ id: Schema.String }))

/** The same text as `claimOf`. */
const claim = literal("lower('authorization:' || a.network || ':' || a.asset || ':' || a.payer || ':' || a.nonce)")

const unmatched = part`
  SELECT CASE WHEN o.id IS NULL THEN 'unmatched' ELSE 'failed' END AS reason, s.name AS payment, o.id AS attempt, s.network,
    s.asset, COALESCE(s.pay_to, o.pay_to) AS pay_to, s.payer, s.nonce, s.amount_atomic, s.transaction, s.valid_before,
    0 AS from_block, s.found_at AS since, s.valid_before > extract(epoch FROM now()) AND s.network <> 'card' AS is_claimable
  FROM payment_strays s LEFT JOIN LATERAL (
    SELECT a.id, a.pay_to FROM payment_attempts a
    WHERE a.state = 'failed' AND a.nonce = s.nonce AND lower(a.payer) = lower(s.payer) AND a.network = s.network
    ORDER BY a.ended_at DESC LIMIT 1
  ) o ON true`

const ended = (which: Statement.Fragment) => part`
  SELECT CASE WHEN a.finality = 'lost' THEN 'lost' ELSE 'settled' END AS reason, ${claim} AS payment, a.id AS attempt,
    a.network, a.asset, a.pay_to, a.payer, a.nonce, a.amount_atomic, COALESCE(a.current_transaction, a.transaction),
    a.valid_before, a.from_block, a.ended_at AS since, false AS is_claimable
  FROM payment_attempts a WHERE a.state = 'settled' AND a.act <> ${refundAct} AND ${which}`

/** Payments with their newest refund, oldest first; those that no transfer of ours returns come last. */
const list = (source: Statement.Fragment, which: Statement.Fragment, limit: number) => part`
  SELECT p.reason, p.payment, p.attempt, p.network, p.asset, p.pay_to, p.payer, p.nonce,
    p.amount_atomic::text AS amount_atomic, p.transaction, p.valid_before::text AS valid_before, p.from_block::text AS from_block, p.is_claimable,
    extract(epoch FROM now() - p.since)::int AS age_seconds, p.refund
  FROM (SELECT p.*, ${newestRefund(part`f.payment = p.payment`)} AS refund FROM (${source}) p) p
  WHERE ${which} ORDER BY p.network = 'card', p.reason = 'lost', p.since, p.payment LIMIT ${limit}::int`

/** The payment to return, and the signed transfer that returns it. */
export interface NewRefund {
  readonly returned: Returnable
  readonly payment: ChainPayment
}

/** The refund was not recorded, for this reason. */
export class RefundRefused extends Schema.TaggedError<RefundRefused>()("RefundRefused", { message: Schema.String }) {}

const taken = new RefundRefused({
  message:
    "This payment cannot be refunded: a refund exists, it bought an act, or the nonce of its refund was used elsewhere. Nothing was recorded.",
})

const isTaken = (error: unknown) => SqlError.isSqlError(error) && error.reason._tag === "UniqueViolation"

export class Refunds extends Context.Service<Refunds>()("spirit-altar/payments/ledger/Refunds", {
  make: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient

    /** Unmatched payments, and acts whose payment was lost, that no standing refund has returned. */
    const due = (limit: number) =>
      returnables(
        sql`${list(
          part`${unmatched} UNION ALL ${ended(part`a.finality = 'lost'`)}`,
          part`p.refund IS NULL OR p.refund::json->>'state' IN ('REFUND_PENDING', 'REFUND_FAILED')`,
          limit,
        )}`,
      )

    /** The payments of an attempt, of a transaction, or with this nonce. */
    const find = Effect.fn("Refunds.find")(function* (
      by: { readonly attempt: string } | { readonly payment: string },
      limit: number,
    ) {
      const hash = "payment" in by ? by.payment.toLowerCase() : ""
      const source =
        "attempt" in by
          ? part`${unmatched} UNION ALL ${ended(part`a.id = ${by.attempt}::uuid`)}`
          : part`${unmatched} UNION ALL ${ended(
              part`(a.transaction = ${hash} OR a.current_transaction = ${hash} OR a.nonce = ${hash})`,
            )}`
      const which =
        "attempt" in by
          ? part`p.attempt = ${by.attempt}::uuid`
          : part`(lower(p.transaction) = ${hash} OR lower(p.nonce) = ${hash})`
      return yield* returnables(sql`${list(source, which, limit)}`)
    })

    /**
     * Records the intent, inside its caller's transaction. The payment's refund and, unless it has bought something, the
     * payment itself are unique claims: the buyer, or one of two operators, gets them.
     */
    const intend = Effect.fn("Refunds.intend")(
      function* ({ payment, returned }: NewRefund) {
        const id = randomUUID()
        const paid = columnsOf(payment)
        const { attempt, payment: name, reason, transaction } = returned
        const holds = reason === "settled" || reason === "lost" ? [] : [name]
        const names = [`refund:${name}`, ...holds, claimOf(payment)]
        const input = JSON.stringify({ reason, attempt, payment: name, originalTransaction: transaction })
        // An orphaned refund holds its claims until the next one is intended.
        yield* sql`
        DELETE FROM payment_claims c USING payment_attempts a
        WHERE c.name = ANY(${names}::text[]) AND a.id = c.attempt_id AND a.act = ${refundAct} AND a.finality = 'lost'`
        const made = yield* ids(sql`
        WITH attempt AS (
          INSERT INTO payment_attempts (id, idempotency_key, fingerprint, act, url, input, rail, network, asset, pay_to,
            payer, nonce, amount_atomic, valid_after, valid_before, signature, payload, from_block, state, accepted_at,
            next_check_at)
          SELECT ${id}::uuid, ${`refund:${id}`}, '', ${refundAct}, '', ${input}, 'x402', ${paid.network}, ${paid.asset},
            ${paid.pay_to}, ${paid.payer}, ${paid.nonce}, ${payment.authorization.value.toString()}::numeric,
            ${paid.valid_after}::numeric, ${paid.valid_before}::bigint, ${paid.signature}, '', ${paid.from_block}::bigint,
            'pending', now(), now()
          WHERE ${
            holds.length === 0
              ? part`EXISTS (SELECT 1 FROM payment_attempts
                  WHERE id = ${attempt}::uuid AND state = 'settled' AND finality IN ('final', 'lost'))`
              : part`EXISTS (SELECT 1 FROM payment_strays
                  WHERE name = ${name} AND valid_before < extract(epoch FROM clock_timestamp()))`
          } AND NOT EXISTS (
            SELECT 1 FROM ${refunds} WHERE f.payment = ${name} AND (
              (t.state = 'settled' AND t.finality <> 'lost')
              OR t.reason IN ('authorization_spent_elsewhere', 'authorization_canceled'))
          )
          RETURNING id
        ), held AS (
          INSERT INTO payment_claims (name, attempt_id)
          SELECT n, attempt.id FROM attempt, unnest(${names.sort()}::text[]) AS n ORDER BY n
        )
        INSERT INTO payment_refunds (id, payment, attempt, reason, original_transaction, original_atomic)
        SELECT id, ${name}, ${attempt}::uuid, ${reason}, ${transaction}, ${returned.amountAtomic.toString()}::numeric
        FROM attempt RETURNING id`)
        if (made.length > 0) return id
        return yield* taken
      },
      Effect.catchIf(isTaken, () => Effect.fail(taken)),
    )

    /**
     * JSON texts of the refunds that a transaction made, and of those of the payments that it made, newest first. A
     * payment in another transaction after a reorganisation is found by the one that its buyer was told, too.
     */
    const ofTransaction = Effect.fn("Refunds.ofTransaction")(function* (hash: string) {
      const rows = yield* texts(sql`
        SELECT ${refundJson} AS refund FROM ${refunds}
        WHERE f.original_transaction = ${hash}
          OR f.id IN (SELECT id FROM payment_attempts WHERE state = 'settled' AND transaction = ${hash})
          OR f.id IN (SELECT id FROM payment_attempts WHERE current_transaction = ${hash})
          OR f.attempt IN (SELECT id FROM payment_attempts WHERE state = 'settled' AND transaction = ${hash})
        ORDER BY t.accepted_at DESC, t.id LIMIT 100`).pipe(Effect.orDie, bounded)
      return rows.map(({ refund }) => refund)
    })

    /** The newest refund of a payment. */
    const ofPayment = Effect.fn("Refunds.ofPayment")(function* (payment: string) {
      const [row] = yield* states(sql`SELECT ${newestRefund(part`f.payment = ${payment}`)} AS refund`).pipe(
        Effect.orDie,
        bounded,
      )
      return Option.fromNullishOr(row?.refund)
    })

    return { due, find, intend, ofTransaction, ofPayment }
  }),
}) {
  static readonly layer = Layer.effect(this, this.make)
}
