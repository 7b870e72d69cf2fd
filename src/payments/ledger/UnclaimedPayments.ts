/** Authorizations that have paid us and belong to no purchase: one row each, for the operator. */
import { Clock, Context, Effect, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { Hex } from "viem"
import { rowReader } from "../../platform/Rows.ts"
import { timestampOf } from "../../platform/Time.ts"
import { Word } from "../Hex.ts"
import { type ChainPayment, claimOf } from "../Payment.ts"

const readRow = rowReader("payment_strays", Schema.Struct({ transaction: Word }))

export class UnclaimedPayments extends Context.Service<
  UnclaimedPayments,
  {
    /** The transaction that is noted for an authorization. */
    find(payment: ChainPayment): Effect.Effect<Option.Option<Hex>>
    /** Notes what the chain proves to have paid us, once, so that nobody can fill this for nothing. */
    note(payment: ChainPayment, transaction: Hex): Effect.Effect<void>
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

      const note = Effect.fn("UnclaimedPayments.note")(function* (payment: ChainPayment, transaction: Hex) {
        const { asset, from, nonce, validBefore, value } = payment.authorization
        const written = yield* sql`
          INSERT INTO payment_strays ${sql.insert({
            name: claimOf(payment),
            network: payment.network,
            asset,
            payer: from,
            nonce,
            amount_atomic: value.toString(),
            valid_before: validBefore.toString(),
            transaction,
            found_at: timestampOf(yield* Clock.currentTimeMillis),
          })} ON CONFLICT (name) DO NOTHING RETURNING name`.pipe(Effect.orDie)
        if (written.length > 0)
          yield* Effect.logError(`A payment belongs to no purchase: ${value} atomic USDC in ${transaction}`)
      })

      return UnclaimedPayments.of({ find, note })
    }),
  )
}
