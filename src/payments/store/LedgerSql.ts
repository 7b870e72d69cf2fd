/** Fragments for statements of other modules, so that a read of an act and its payment takes one round trip. */
import { Effect, Schema } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { Finality } from "../../../schema/payments/Payment.ts"
import { rowsOf } from "../../platform/Rows.ts"
import { part } from "../../platform/Sql.ts"
import { refundWhere } from "./Refunds.ts"

export const storedJson = Schema.fromJsonString(Schema.Record(Schema.String, Schema.Json))

export const paymentStateColumns = {
  rail: Schema.Literals(["x402", "card"]),
  finality: Finality,
  currentTransaction: Schema.NullOr(Schema.String),
  refund: Schema.NullOr(storedJson),
}

const stateOf = rowsOf("payment_attempts", Schema.Struct({ state: Schema.Literals(["pending", "settled", "failed"]) }))

/** Settled acts as `a` joined with their payments as `p`. `actColumns` covers both. */
export const settledActs = part`acts a JOIN payment_attempts p ON p.id = a.id`
export const paymentState = part`p.rail, p.finality, p.current_transaction,
  ${refundWhere(part`f.attempt = p.id`)} AS refund`

/** Matches the payer of a settled act in any spelling. */
export const paidBy = (wallet: string) => part`p.state = 'settled' AND p.payer = ${wallet.toLowerCase()}::text`

/** Matches the transaction that settled an act or holds its transfer now. */
export const settledIn = (transaction: string) => {
  const hash = transaction.toLowerCase()
  return part`p.state = 'settled' AND (p.transaction = ${hash}::text OR p.current_transaction = ${hash}::text)`
}

/** Matches the public name of a settled act in any spelling. */
export const namedBy = (name: string) => part`a.agent_name IS NOT NULL AND lower(a.agent_name) = lower(${name}::text)
  AND NOT 'agentName' = ANY(a.hidden)`

export const newestPayment = part`p.ended_at DESC, p.id DESC`

export const newestAct = part`(SELECT * FROM acts ORDER BY settled_at DESC, id DESC LIMIT 1)`

export const placeOfAct = (id: string) => part`(SELECT settled_at, id FROM acts WHERE id = ${id}::uuid)`

/** Totals of everything that ever settled, as one row: `settled` and `cents`. */
export const totals = part`(SELECT settled, (settled_atomic / 10000)::bigint AS cents FROM payment_totals WHERE id = 1)`

/** Whether an attempt holds the claim of this name, temporarily or permanently. */
export const isClaimed = (name: Statement.Fragment) => part`EXISTS (SELECT 1 FROM payment_claims WHERE name = ${name})`

/** Numbers of a pool that are assigned; null before the first one. */
export const drawn = (pool: Statement.Fragment) =>
  part`(SELECT highest - cardinality(released) FROM payment_pools WHERE name = ${pool})`

/** Whether an attempt of one of these acts is pending. */
export const isPending = Effect.map(
  SqlClient.SqlClient,
  (sql) => (id: string, acts: ReadonlyArray<string>) =>
    Effect.map(
      stateOf(sql`SELECT state FROM payment_attempts WHERE id = ${id}::uuid AND act = ANY(${acts}::text[])`),
      ([attempt]) => attempt?.state === "pending",
    ),
)
