/** Wallets whose payments took our gas in a block and did not pay: every server refuses them for a while. */
import { Context, Effect, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { Hex } from "viem"
import { rowReader } from "../../platform/Rows.ts"
import { retryConflicts } from "../../platform/Sql.ts"
import { type BroadcastsUnavailable, unavailable } from "./Broadcasts.ts"

/** Its contract took back what it had agreed to; or what it was to pay had left it. */
const Reason = Schema.Literals(["wallet_reverted_settlement", "wallet_did_not_pay"])
export type Reason = typeof Reason.Type

/** A broadcast that did not pay by the doing of the wallet it was sent for. */
export interface Loss {
  /** The attempt's id. */
  readonly attempt: string
  readonly hash: Hex
  readonly wallet: Hex
  readonly reason: Reason
  /** What it took of our gas. */
  readonly gas: bigint
}

export interface Standing {
  /** Why nothing is sent for the wallet at the moment, if so. */
  readonly refused: Option.Option<Reason>
  /** Whether it was let in as a wallet without code and has not paid yet: it is sent only as long as it has none. */
  readonly isCodeless: boolean
}

const readStanding = rowReader(
  "payment_attempts",
  Schema.Struct({ isCodeless: Schema.Boolean, refusal: Schema.NullOr(Reason) }),
)
const unknownStanding = { refusal: null, isCodeless: false }

export class Refusals extends Context.Service<
  Refusals,
  {
    /** What holds for a payment of a wallet now. */
    of(attempt: string, wallet: Hex): Effect.Effect<Standing, BroadcastsUnavailable>
    /** Refuses the wallet for an hour from now; a broadcast counts once, whoever looks at it. */
    refuse(loss: Loss): Effect.Effect<void, BroadcastsUnavailable>
  }
>()("spirit-altar/payments/ledger/Refusals") {
  static readonly layer = Layer.effect(
    Refusals,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient

      const of = Effect.fn("Refusals.of")(function* (attempt: string, wallet: Hex) {
        const [row] = yield* sql`
          SELECT a.codeless AND a.state = 'pending' AS is_codeless, p.refusal FROM payment_attempts a
          LEFT JOIN payment_payers p ON p.name = ${wallet} AND p.refused_until > now()
          WHERE a.id = ${attempt}::uuid`.pipe(unavailable)
        const { isCodeless, refusal } = row === undefined ? unknownStanding : yield* readStanding(row)
        return { isCodeless, refused: Option.fromNullishOr(refusal) } satisfies Standing
      })

      const refuse = Effect.fn("Refusals.refuse")(function* ({ attempt, gas, hash, reason, wallet }: Loss) {
        yield* retryConflicts(sql`
          WITH lost AS (
            UPDATE relayer_broadcasts SET blamed = true
            WHERE attempt_id = ${attempt}::uuid AND hash = ${hash} AND NOT blamed RETURNING attempt_id
          )
          UPDATE payment_payers SET refused_until = now() + interval '1 hour', refusal = ${reason},
            lost_gas = ${gas.toString()}::bigint + CASE WHEN refused_until > now() THEN lost_gas ELSE 0 END
          WHERE name = ${wallet} AND EXISTS (SELECT 1 FROM lost)`).pipe(unavailable)
      })

      return Refusals.of({ of, refuse })
    }),
  )
}
