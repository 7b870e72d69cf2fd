/** Payments that have reached us and belong to no purchase: one row each, for the operator. */
import { Clock, Context, Effect, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { Hex } from "viem"
import { rowReader } from "../../platform/Rows.ts"
import { timestampOf } from "../../platform/Time.ts"
import { Word } from "../Hex.ts"
import { retryConflicts } from "../../platform/Sql.ts"
import { type ChainPayment, claimOf, columnsOf, type PaymentColumns, type Proof } from "../Payment.ts"
import type { Attempt } from "./Attempt.ts"

const readRow = rowReader("payment_strays", Schema.Struct({ transaction: Word }))

/** `transaction` is a hash, or the intent of a card's charge. */
type Stray = Pick<PaymentColumns, "network" | "asset" | "payer" | "nonce" | "validBefore"> & {
  readonly amountAtomic: bigint
  readonly transaction: string
}

export class UnclaimedPayments extends Context.Service<
  UnclaimedPayments,
  {
    /** The transaction that is noted for an authorization. */
    find(payment: ChainPayment): Effect.Effect<Option.Option<Hex>>
    /** Notes what the chain proves to have paid us, once, so that nobody can fill this for nothing. */
    note(payment: ChainPayment, transaction: Hex): Effect.Effect<void>
    /** The same of what is proven to have paid for an attempt that had failed before, and not for another one since. */
    noteFailed(attempt: Attempt, proof: Proof): Effect.Effect<void>
  }
>()("spirit-altar/payments/ledger/UnclaimedPayments") {
  static readonly layer = Layer.effect(
    UnclaimedPayments,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient

      const find = Effect.fn("UnclaimedPayments.find")(function* (payment: ChainPayment) {
        const [row] = yield* sql`SELECT transaction FROM payment_strays WHERE name = ${claimOf(payment)}`.pipe(
          Effect.orDie,
        )
        return row === undefined ? Option.none<Hex>() : Option.some((yield* readRow(row)).transaction)
      })

      /** Whoever holds the claim now has bought something with it. */
      const write = Effect.fnUntraced(function* (name: string, stray: Stray, attempt?: string) {
        const { amountAtomic, asset, network, nonce, payer, transaction, validBefore } = stray
        const whose = attempt === undefined ? "" : `, of attempt ${attempt}, which had failed`
        const said = `${amountAtomic} atomic USDC in ${transaction}${whose}`
        const written = yield* retryConflicts(sql`
          INSERT INTO payment_strays (name, network, asset, payer, nonce, amount_atomic, valid_before, transaction, found_at)
          SELECT ${name}::text, ${network}::text, ${asset}::text, ${payer}::text, ${nonce}::text,
            ${amountAtomic.toString()}::numeric, ${validBefore.toString()}::numeric, ${transaction}::text,
            ${timestampOf(yield* Clock.currentTimeMillis)}::timestamptz
          WHERE NOT EXISTS (SELECT 1 FROM payment_claims WHERE name = ${name}::text)
          ON CONFLICT (name) DO NOTHING RETURNING name`).pipe(
          Effect.tapError(() => Effect.logError(`A payment belongs to no purchase and was not noted: ${said}`)),
          Effect.orDie,
        )
        if (written.length > 0) yield* Effect.logError(`A payment belongs to no purchase: ${said}`)
      })

      const note = Effect.fn("UnclaimedPayments.note")((payment: ChainPayment, transaction: Hex) =>
        write(claimOf(payment), { ...columnsOf(payment), amountAtomic: payment.authorization.value, transaction }),
      )

      const noteFailed = Effect.fn("UnclaimedPayments.noteFailed")((attempt: Attempt, proof: Proof) => {
        const { amountAtomic, id } = attempt
        // The token of a card is forgotten with its attempt, and one intent is one charge.
        const [name, payment, transaction] =
          proof.rail === "card"
            ? [`card-intent:${proof.intent}`, attempt.payment, proof.intent]
            : [claimOf(proof.payment), proof.payment, proof.transaction]
        return write(name, { ...columnsOf(payment), amountAtomic, transaction }, id)
      })

      return UnclaimedPayments.of({ find, note, noteFailed })
    }),
  )
}
