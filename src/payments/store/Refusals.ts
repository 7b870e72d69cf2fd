/** Wallets whose payments used our gas in a block and did not pay. Every server refuses them for a while. */
import { Context, Effect, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { Hex } from "viem"
import { rowReader } from "../../platform/Rows.ts"
import { retryConflicts } from "../../platform/Sql.ts"
import { type ChainPayment, paymentColumns, readChainPayment } from "../Payment.ts"
import { unavailable } from "./Broadcasts.ts"

/** The wallet's contract reverted what it had accepted, or the balance was gone. */
const Reason = Schema.Literals(["wallet_reverted_settlement", "wallet_did_not_pay"])
export type Reason = typeof Reason.Type

/** A payment that a broadcast did not make, through its wallet's fault. */
export interface GasLoss {
  readonly attempt: string
  readonly wallet: Hex
  readonly reason: Reason
  readonly gas: bigint
}

export interface GroupedAttempt {
  readonly attempt: string
  readonly isPending: boolean
  readonly authorization: ChainPayment["authorization"]
}

export interface WalletStatus {
  /** Why the wallet is refused now, if it is. */
  readonly refused: Option.Option<Reason>
  /** Whether it was accepted as a wallet without code and has not paid yet. It is sent only while it has none. */
  readonly isCodeless: boolean
}

const readWalletStatus = rowReader(
  "payment_attempts",
  Schema.Struct({ isCodeless: Schema.Boolean, refusal: Schema.NullOr(Reason) }),
)
const readState = rowReader("payment_attempts", Schema.Struct({ id: Schema.String, isPending: Schema.Boolean }))
const unknownWallet = { refusal: null, isCodeless: false }

export class Refusals extends Context.Service<Refusals>()("spirit-altar/payments/store/Refusals", {
  make: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient

    const of = Effect.fn("Refusals.of")(function* (attempt: string, wallet: Hex) {
      const [row] = yield* sql`
        SELECT a.codeless AND a.state = 'pending' AS is_codeless, p.refusal FROM payment_attempts a
        LEFT JOIN payment_payers p ON p.name = ${wallet} AND p.refused_until > now()
        WHERE a.id = ${attempt}::uuid`.pipe(unavailable)
      const { isCodeless, refusal } = row === undefined ? unknownWallet : yield* readWalletStatus(row)
      return { isCodeless, refused: Option.fromNullishOr(refusal) } satisfies WalletStatus
    })

    const travellersIn = Effect.fn("Refusals.travellersIn")(function* (hash: Hex) {
      const rows = yield* sql`
        SELECT id, state = 'pending' AS is_pending, ${sql.literal(paymentColumns.join(", "))} FROM payment_attempts
        WHERE id IN (SELECT attempt_id FROM relayer_broadcasts WHERE hash = ${hash}) ORDER BY id`.pipe(unavailable)
      return yield* Effect.forEach(rows, (row) =>
        Effect.map(
          Effect.all([readState(row), readChainPayment(row)]),
          ([{ id, isPending }, { authorization }]): GroupedAttempt => ({ attempt: id, isPending, authorization }),
        ),
      )
    })

    /** Refuses the wallets for an hour. The loss of a broadcast counts once, on the first call. */
    const refuse = Effect.fn("Refusals.refuse")(function* (hash: Hex, losses: ReadonlyArray<GasLoss>) {
      const asked = losses.map(({ gas, ...loss }) => ({ ...loss, gas: gas.toString() }))
      yield* retryConflicts(sql`
        WITH asked AS MATERIALIZED (
          SELECT * FROM json_to_recordset(${JSON.stringify(asked)}::json)
            AS r(attempt uuid, wallet text, reason text, gas bigint)
        ), before AS MATERIALIZED (
          -- A wallet blamed later for a counted loss is refused, too.
          SELECT EXISTS (SELECT 1 FROM relayer_broadcasts WHERE hash = ${hash} AND blamed) AS is_counted
        ), lost AS (
          UPDATE relayer_broadcasts b SET blamed = true FROM asked a
          WHERE b.attempt_id = a.attempt AND b.hash = ${hash} AND NOT b.blamed RETURNING a.wallet, a.reason, a.gas
        ), owed AS (
          SELECT wallet, max(reason) AS reason, CASE WHEN is_counted THEN 0 ELSE sum(gas)::bigint END AS gas
          FROM lost CROSS JOIN before GROUP BY wallet, is_counted
        ), locked AS (
          SELECT p.name FROM payment_payers p JOIN owed o ON o.wallet = p.name ORDER BY p.name FOR UPDATE OF p
        )
        UPDATE payment_payers p SET refused_until = now() + interval '1 hour', refusal = o.reason,
          lost_gas = o.gas + CASE WHEN p.refused_until > now() THEN p.lost_gas ELSE 0 END
        FROM owed o JOIN locked l ON l.name = o.wallet WHERE p.name = o.wallet`).pipe(unavailable)
    })

    return { of, travellersIn, refuse }
  }),
}) {
  static readonly layer = Layer.effect(this, this.make)
}
