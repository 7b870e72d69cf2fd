/** Fragments for statements of other modules, so that a read of an act and its payment takes one round trip. */
import { Effect, Option, Schema } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { hiddenByOperator } from "../../../schema/altar/Hidden.ts"
import { Finality } from "../../../schema/payments/Payment.ts"
import { Moment, rowsOf } from "../../platform/Rows.ts"
import { part } from "../../platform/SqlPart.ts"
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

/** The header of the first answer, and whether the shown record is that answer's. */
export const firstAnswer = part`p.payment_response,
  (p.answer ->> 'record') = a.record AS is_as_answered`

/** Matches the payer of a settled act in any spelling. */
export const paidBy = (wallet: string) => part`p.state = 'settled' AND p.payer = ${wallet.toLowerCase()}::text`

/** Matches the transaction that settled an act or holds its transfer now. */
export const settledIn = (transaction: string) => {
  const hash = transaction.toLowerCase()
  return part`p.state = 'settled' AND (p.transaction = ${hash}::text OR p.current_transaction = ${hash}::text)`
}

/** Matches the public name of a settled act in any spelling. */
export const namedBy = (name: string) => part`a.agent_name IS NOT NULL AND lower(a.agent_name) = lower(${name}::text)`

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

const PublicAct = Schema.Struct({
  id: Schema.String,
  act: Schema.String,
  permalink: Schema.String,
  agentName: Schema.NullOr(Schema.String),
  settledAt: Moment,
  record: Schema.String,
  /** Those of the first answer. */
  firstReceipt: Schema.String,
  firstRecord: Schema.String,
})

const actsOf = rowsOf("acts", PublicAct)

const decodeBound = Schema.decodeEffect(
  Schema.fromJsonString(
    Schema.StructWithRest(Schema.Struct({ binding: Schema.NullOr(Schema.Record(Schema.String, Schema.Json)) }), [
      Schema.Record(Schema.String, Schema.Json),
    ]),
  ),
)

/** The receipt beside what is shown. The hash of the body would confirm guesses of a hidden text. */
const shownReceipt = ({ firstReceipt, firstRecord }: typeof PublicAct.Type, agentName: string | null, record: string) =>
  record === firstRecord && agentName !== hiddenByOperator
    ? Effect.succeed(firstReceipt)
    : Effect.map(Effect.orDie(decodeBound(firstReceipt)), (receipt) =>
        JSON.stringify(
          receipt.binding === null ? receipt : { ...receipt, binding: { ...receipt.binding, bodySha256: null } },
        ),
      )

/** The public rows of settled acts, for the operator's changes of what is shown. */
export const publicActs = Effect.map(SqlClient.SqlClient, (sql) => ({
  /** Locks the attempt of an act, so that changes of its public row run one at a time. */
  lock: (id: string) => sql`SELECT id FROM payment_attempts WHERE id = ${id}::uuid FOR UPDATE`,
  find: (id: string) =>
    Effect.map(
      actsOf(sql`
        SELECT a.id, a.act, a.permalink, a.agent_name, a.settled_at, a.record, p.answer ->> 'receipt' AS first_receipt,
          p.answer ->> 'record' AS first_record
        FROM acts a JOIN payment_attempts p ON p.id = a.id WHERE a.id = ${id}::uuid FOR UPDATE OF a`),
      ([row]) => Option.fromNullishOr(row),
    ),
  /** Changes what is shown. The stored first answer stays, and a replay of its key returns it. */
  show: (act: typeof PublicAct.Type, agentName: string | null, record: string) =>
    Effect.flatMap(
      shownReceipt(act, agentName, record),
      (receipt) =>
        sql`UPDATE acts SET agent_name = ${agentName}, record = ${record}, receipt = ${receipt} WHERE id = ${act.id}::uuid`,
    ),
}))
