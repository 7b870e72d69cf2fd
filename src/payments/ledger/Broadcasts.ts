/** What the relayer signed for each attempt, on disk before it is sent: whoever comes later knows what may be on its way. */
import { Context, Effect, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { Hex } from "viem"
import { retryConflicts } from "../../platform/Sql.ts"
import { rowReader } from "../../platform/Rows.ts"
import { timestampOf } from "../../platform/Time.ts"
import { Word } from "../Hex.ts"

/** The newest transaction of an attempt; `maxFeePerGas` in wei. */
export interface Broadcast {
  readonly nonce: number
  readonly hash: Hex
  readonly maxFeePerGas: bigint
  readonly atMillis: number
}

/** The database does not answer: nobody knows what was sent, and nothing may be sent that is not noted. */
export class BroadcastsUnavailable extends Schema.TaggedError<BroadcastsUnavailable>()("BroadcastsUnavailable", {}) {
  override get message() {
    return "the broadcasts cannot be read or noted"
  }
}

const readRow = rowReader(
  "relayer_broadcasts",
  Schema.Struct({ nonce: Schema.BigInt, hash: Word, maxFee: Schema.BigIntFromString, sentAt: Schema.Date }),
)

const unavailable = <A, E>(statement: Effect.Effect<A, E>): Effect.Effect<A, BroadcastsUnavailable> =>
  statement.pipe(
    Effect.tapError((error) => Effect.logWarning("A broadcast could not be read or noted", error)),
    Effect.mapError(() => new BroadcastsUnavailable({})),
  )

export class Broadcasts extends Context.Service<
  Broadcasts,
  {
    find(attempt: string): Effect.Effect<Option.Option<Broadcast>, BroadcastsUnavailable>
    /**
     * Takes the place of `previous`; false when somebody else was faster, who then sends instead, or has ended the
     * attempt. What is noted is no longer refused, nor about to fail.
     */
    note(
      attempt: string,
      previous: Option.Option<Hex>,
      broadcast: Broadcast,
    ): Effect.Effect<boolean, BroadcastsUnavailable>
  }
>()("spirit-altar/payments/ledger/Broadcasts") {
  static readonly layer = Layer.effect(
    Broadcasts,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient

      const find = Effect.fn("Broadcasts.find")(function* (attempt: string) {
        const [row] = yield* sql`
          SELECT nonce, hash, max_fee::text AS max_fee, sent_at FROM relayer_broadcasts
          WHERE attempt_id = ${attempt}::uuid`.pipe(unavailable)
        if (row === undefined) return Option.none<Broadcast>()
        const { hash, maxFee, nonce, sentAt } = yield* readRow(row)
        return Option.some<Broadcast>({
          nonce: Number(nonce),
          hash,
          maxFeePerGas: maxFee,
          atMillis: sentAt.getTime(),
        })
      })

      const note = Effect.fn("Broadcasts.note")(function* (
        attempt: string,
        previous: Option.Option<Hex>,
        { atMillis, hash, maxFeePerGas, nonce }: Broadcast,
      ) {
        const rows = yield* retryConflicts(
          Option.isNone(previous)
            ? // The attempt's row is locked with it, so that nobody ends it as never sent beside this.
              sql`WITH open AS (
                  UPDATE payment_attempts SET refusal = NULL, doubted_at = NULL, doubted_reason = NULL
                  WHERE id = ${attempt}::uuid AND state = 'pending' RETURNING id
                )
                INSERT INTO relayer_broadcasts (attempt_id, nonce, hash, max_fee, sent_at)
                SELECT id, ${nonce}::bigint, ${hash}, ${maxFeePerGas.toString()}::numeric,
                  ${timestampOf(atMillis)}::timestamptz FROM open
                ON CONFLICT (attempt_id) DO NOTHING RETURNING nonce`
            : sql`UPDATE relayer_broadcasts SET nonce = ${nonce}::bigint, hash = ${hash},
                  max_fee = ${maxFeePerGas.toString()}::numeric, sent_at = ${timestampOf(atMillis)}::timestamptz
                WHERE attempt_id = ${attempt}::uuid AND hash = ${previous.value} RETURNING nonce`,
        ).pipe(unavailable)
        return rows.length > 0
      })

      return Broadcasts.of({ find, note })
    }),
  )
}
