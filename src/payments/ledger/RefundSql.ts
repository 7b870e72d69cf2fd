/** The public state of a refund as JSON text, for reads of other modules. */
import { literal, part } from "../../platform/SqlPart.ts"
import type { Statement } from "effect/sql"

/** The act of an attempt that returns a payment. No endpoint sells it. */
export const refundAct = "refund"

const time = (column: string) => literal(`to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`)

/** A refund `f` with its attempt `t`, in the form of the contract. A refund whose block was orphaned has failed. */
const refund = part`json_build_object('id', f.id, 'state', CASE
    WHEN t.state = 'pending' THEN 'REFUND_PENDING'
    WHEN t.state = 'failed' OR t.finality = 'lost' THEN 'REFUND_FAILED'
    WHEN t.amount_atomic < f.original_atomic THEN 'PARTIALLY_REFUNDED' ELSE 'REFUNDED' END,
  'reason', f.reason, 'network', t.network, 'asset', t.asset, 'payer', t.pay_to, 'payTo', t.payer,
  'amountAtomic', t.amount_atomic::text, 'originalAtomic', f.original_atomic::text, 'attempt', f.attempt,
  'originalTransaction', f.original_transaction,
  'refundTransaction', CASE WHEN t.state = 'settled' THEN COALESCE(t.current_transaction, t.transaction) END,
  'finality', CASE WHEN t.state = 'settled' THEN t.finality END, 'intendedAt', ${time("t.accepted_at")},
  'refundedAt', CASE WHEN t.state = 'settled' THEN ${time("t.ended_at")} END,
  'signature', CASE WHEN t.finality <> 'lost' AND COALESCE(t.current_transaction, t.transaction) = t.transaction
    THEN NULLIF(t.payment_response, '') END)::text`

export const refunds = part`payment_refunds f JOIN payment_attempts t ON t.id = f.id`

export const refundJson = refund

/** The newest refund that matches, as JSON text; null without one. */
export const newestRefund = (which: Statement.Fragment) =>
  part`(SELECT ${refund} FROM ${refunds} WHERE ${which} ORDER BY t.accepted_at DESC, t.id LIMIT 1)`
