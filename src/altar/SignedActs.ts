/** Settled acts with their signed receipts, for the receipt file. */
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { setWitnessStone } from "../../schema/altar/Witness.ts"
import { Binding } from "../../schema/payments/Binding.ts"
import { ActNotFound } from "../../schema/payments/Act.ts"
import { PaidActs, sentBody } from "../payments/Act.ts"
import * as Ledger from "../payments/store/LedgerSql.ts"
import { signedReceiptIn } from "../payments/Receipt.ts"
import { JsonText } from "../platform/JsonText.ts"
import { rowsOf } from "../platform/Rows.ts"
import { bounded } from "../platform/Sql.ts"
import { dateColumns, dateSql, stoneDateOf } from "./witness/StoneDates.ts"
import { hiddenColumn, hiddenOfAct, isAsAnswered, revealed } from "./Hidden.ts"
import { commitmentOfReveal, revealColumns, revealOf, Reveals } from "./Reveals.ts"

const rows = rowsOf(
  "acts",
  Schema.Struct({
    id: Schema.String,
    act: Schema.String,
    permalink: Schema.String,
    record: Schema.String,
    paymentResponse: Schema.String,
    hidden: hiddenColumn,
    agentName: Schema.NullOr(Schema.String),
    receipt: Schema.fromJsonString(Schema.Struct({ binding: Schema.NullOr(Binding) })),
    input: Schema.fromJsonString(Schema.Record(Schema.String, Schema.Json)),
    ...dateColumns,
    ...revealColumns,
    commitment: Schema.NullOr(Schema.String),
  }),
)

export class SignedActs extends Context.Service<SignedActs>()("spirit-altar/altar/SignedActs", {
  make: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const reveals = yield* Reveals
    const acts = yield* PaidActs

    const get = Effect.fn("SignedActs.get")(function* (id: string) {
      const [row] = yield* bounded(
        rows(sql`
        SELECT a.id, a.act, a.permalink, a.record, a.receipt, a.hidden, a.agent_name, p.input, p.payment_response, p.finality, ${dateSql},
          ${revealed("a")},
          ${commitmentOfReveal}
        FROM ${Ledger.settledActs} LEFT JOIN reveals r ON r.id = a.id WHERE a.id = ${id}::uuid`),
      )
      if (row === undefined) return yield* new ActNotFound({})
      yield* reveals.check([row])
      const sold = acts.get(row.act)
      return {
        act: row.act,
        permalink: row.permalink,
        /** The compact JWS; none for a card, or where the server had no receipt key. */
        receipt: signedReceiptIn(row.paymentResponse),
        /** The bytes of the first answer; null where an operator changed what is shown. */
        record: isAsAnswered(hiddenOfAct(row)) ? new JsonText(row.record) : null,
        reveal: revealOf(row),
        binding: row.receipt.binding,
        /** Of a stone alone. */
        dated: row.act === setWitnessStone.identifier ? stoneDateOf(row) : undefined,
        /** The body of the purchase as it was sent; undefined of an act that is no longer sold. */
        body: sold === undefined ? undefined : sentBody(sold.endpoint, row.input),
      }
    })

    return { get }
  }),
}) {
  static readonly layer = Layer.effect(this, this.make)
}
