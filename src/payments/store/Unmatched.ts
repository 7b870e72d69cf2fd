/** Payments to us that belong to no purchase: one row each, for the operator. */
import { Clock, Context, Effect, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { Hex } from "viem"
import { rowReader } from "../../platform/Rows.ts"
import { part } from "../../platform/SqlPart.ts"
import { timestampOf } from "../../platform/Time.ts"
import { Word } from "../Hex.ts"
import { retryConflicts } from "../../platform/Sql.ts"
import { type ChainPayment, claimOf, columnsOf, type Payment, type Proof } from "../Payment.ts"
import type { Attempt, FailedAttempt } from "./Attempt.ts"
import { log } from "../../platform/LogMessages.ts"

const readRow = rowReader("payment_strays", Schema.Struct({ transaction: Word, foundAt: Schema.Date }))
const readTransaction = rowReader("payment_strays", Schema.Struct({ transaction: Schema.String }))

/** `transaction` is a hash, or the intent of a card charge. */
type UnmatchedPayment = Omit<ReturnType<typeof columnsOf>, "transaction"> & {
  readonly amountAtomic: bigint
  readonly transaction: string
}

export interface RecordedPayment {
  readonly transaction: Hex
  readonly foundAtMillis: number
}

/** SQL that deletes unmatched payments whose authorizations have bought something after all. */
export const deleteMatched = (payments: ReadonlyArray<Payment>) =>
  part`DELETE FROM payment_strays WHERE name = ANY(${payments.filter(({ rail }) => rail === "x402").map(claimOf)}::text[])`

export class UnmatchedPayments extends Context.Service<UnmatchedPayments>()("spirit-altar/payments/store/Unmatched", {
  make: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient

    const find = Effect.fn("UnmatchedPayments.find")(function* (payment: ChainPayment) {
      const [row] = yield* sql`SELECT transaction, found_at FROM payment_strays WHERE name = ${claimOf(payment)}`.pipe(
        Effect.orDie,
      )
      if (row === undefined) return Option.none<RecordedPayment>()
      const { foundAt, transaction } = yield* readRow(row)
      return Option.some({ transaction, foundAtMillis: foundAt.getTime() })
    })

    /** The recorded transaction, or card intent, that paid for a failed attempt. */
    const ofFailed = Effect.fn("UnmatchedPayments.ofFailed")(function* ({ payment }: FailedAttempt) {
      // A card's row is found by the challenge, since its intent may be unknown to the failed attempt.
      const its =
        payment.rail === "card"
          ? sql`network = 'card' AND nonce = ${payment.challenge}`
          : sql`name = ${claimOf(payment)}`
      const [row] = yield* sql`SELECT transaction FROM payment_strays WHERE ${its} ORDER BY found_at LIMIT 1`.pipe(
        Effect.orDie,
      )
      return row === undefined ? Option.none<string>() : Option.some((yield* readTransaction(row)).transaction)
    })

    /** Records the payment unless an attempt that has not failed holds it. */
    const write = Effect.fnUntraced(function* (name: string, payment: UnmatchedPayment, attempt?: string) {
      const { amountAtomic, asset, network, nonce, pay_to, payer, transaction, valid_before } = payment
      const fields = { transaction, amountAtomic: String(amountAtomic), attempt }
      const written = yield* retryConflicts(sql`
        INSERT INTO payment_strays (name, network, asset, pay_to, payer, nonce, amount_atomic, valid_before, transaction,
          found_at)
        SELECT ${name}::text, ${network}::text, ${asset}::text, ${pay_to}::text, ${payer}::text, ${nonce}::text,
          ${amountAtomic.toString()}::numeric, ${valid_before}::numeric, ${transaction}::text,
          ${timestampOf(yield* Clock.currentTimeMillis)}::timestamptz
        WHERE NOT EXISTS (
          SELECT 1 FROM payment_claims c JOIN payment_attempts a ON a.id = c.attempt_id
          WHERE c.name = ${name}::text AND a.state <> 'failed')
        ON CONFLICT (name) DO NOTHING RETURNING name`).pipe(
        Effect.tapError(() => log("unmatched payment not recorded", fields)),
        Effect.orDie,
      )
      if (written.length > 0) yield* log("unmatched payment", fields)
    })

    /** Records a proven payment to us. Only proven payments get a row, so filling the table costs money. */
    const note = Effect.fn("UnmatchedPayments.record")((payment: ChainPayment, transaction: Hex) =>
      write(claimOf(payment), { ...columnsOf(payment), amountAtomic: payment.authorization.value, transaction }),
    )

    /** Records a proven payment for an attempt that had already failed, unless it has bought something since. */
    const noteFailed = Effect.fn("UnmatchedPayments.recordFailed")((attempt: Attempt, proof: Proof) => {
      const { amountAtomic, id } = attempt
      // A card's token is erased with its attempt. One intent is one charge.
      const [name, payment, transaction] =
        proof.rail === "card"
          ? [`card-intent:${proof.intent}`, attempt.payment, proof.intent]
          : [claimOf(proof.payment), proof.payment, proof.transaction]
      return write(name, { ...columnsOf(payment), amountAtomic, transaction }, id)
    })

    return { find, ofFailed, note, noteFailed }
  }),
}) {
  static readonly layer = Layer.effect(this, this.make)
}
