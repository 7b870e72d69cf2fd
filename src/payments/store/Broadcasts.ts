/** The transactions that the relayer signed for each attempt, recorded before they are sent. */
import { Context, Effect, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { Hex } from "viem"
import { retryConflicts } from "../../platform/Sql.ts"
import { rowReader } from "../../platform/Rows.ts"
import { timestampOf } from "../../platform/Time.ts"
import { log } from "../../platform/LogMessages.ts"
import { Word } from "../Hex.ts"
import type { Attempt } from "./Attempt.ts"

/** The newest transaction of an attempt. `maxFeePerGas` is in wei. */
export interface Broadcast {
  readonly nonce: number
  readonly hash: Hex
  readonly maxFeePerGas: bigint
  readonly atMillis: number
  /** Number of payments in the transaction. */
  readonly members: number
}

/** A recorded broadcast. `blamed` means that it was in a block without paying, through its wallet's fault. */
export interface RecordedBroadcast extends Broadcast {
  readonly blamed: boolean
}

/** A payment about to be sent in a transaction, with the hash recorded for it so far. */
export interface TransactionMember {
  readonly attempt: string
  /** The state the attempt must still have. */
  readonly state: Attempt["state"]
  readonly previous: Option.Option<Hex>
}

/** The database does not answer. No transaction may be sent unless it is recorded. */
export class BroadcastsUnavailable extends Schema.TaggedError<BroadcastsUnavailable>()("BroadcastsUnavailable", {}) {
  override get message() {
    return "the broadcasts cannot be read or noted"
  }
}

const readRow = rowReader(
  "relayer_broadcasts",
  Schema.Struct({
    nonce: Schema.BigInt,
    hash: Word,
    maxFee: Schema.BigIntFromString,
    sentAt: Schema.Date,
    members: Schema.Int,
    blamed: Schema.Boolean,
  }),
)
const readNoted = rowReader("relayer_broadcasts", Schema.Struct({ attemptId: Schema.String }))

/** Logs a failed statement. Its effect is unknown, so callers must not rely on it. */
export const unavailable = <A, E extends Error>(
  statement: Effect.Effect<A, E>,
): Effect.Effect<A, BroadcastsUnavailable> =>
  statement.pipe(
    Effect.tapError((error) => log("broadcast record failed", {}, error)),
    Effect.mapError(() => new BroadcastsUnavailable({})),
  )

export class Broadcasts extends Context.Service<Broadcasts>()("spirit-altar/payments/store/Broadcasts", {
  make: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient

    const find = Effect.fn("Broadcasts.find")(function* (attempt: string) {
      const [row] = yield* sql`
        SELECT nonce, hash, max_fee::text AS max_fee, sent_at, members, blamed FROM relayer_broadcasts
        WHERE attempt_id = ${attempt}::uuid`.pipe(unavailable)
      if (row === undefined) return Option.none<RecordedBroadcast>()
      const { blamed, hash, maxFee, members, nonce, sentAt } = yield* readRow(row)
      return Option.some<RecordedBroadcast>({
        nonce: Number(nonce),
        hash,
        maxFeePerGas: maxFee,
        atMillis: sentAt.getTime(),
        members,
        blamed,
      })
    })

    /**
     * Records the broadcast of each attempt, all in one statement, and returns those it was recorded for. For the
     * others another server was faster: it sends instead, or it has ended the attempt.
     */
    const note = Effect.fn("Broadcasts.note")(function* (
      passengers: ReadonlyArray<TransactionMember>,
      { atMillis, hash, maxFeePerGas, members, nonce }: Broadcast,
    ) {
      const asked = passengers.map(({ attempt, previous, state }) => ({
        id: attempt,
        state,
        previous: Option.getOrNull(previous),
      }))
      // Locks the attempts' rows in one order, so that none is ended as never sent at the same time.
      const rows = yield* retryConflicts(sql`
        WITH asked AS MATERIALIZED (
          SELECT id, state, previous
          FROM json_to_recordset(${JSON.stringify(asked)}::json) AS r(id uuid, state text, previous text)
        ), locked AS MATERIALIZED (
          SELECT a.id, r.previous,
            (r.previous IS NULL OR a.state = 'pending')
              AND (a.refusal IS NOT NULL OR a.doubted_at IS NOT NULL) AS judged
          FROM payment_attempts a JOIN asked r ON r.id = a.id
          WHERE a.state = r.state AND a.finality = 'pending' ORDER BY a.id FOR UPDATE OF a
        ), open AS (
          UPDATE payment_attempts a SET refusal = NULL, doubted_at = NULL, doubted_reason = NULL
          FROM locked l WHERE a.id = l.id AND l.judged
        )
        INSERT INTO relayer_broadcasts AS b (attempt_id, nonce, hash, max_fee, sent_at, members)
        SELECT id, ${nonce}::bigint, ${hash}, ${maxFeePerGas.toString()}::numeric,
          ${timestampOf(atMillis)}::timestamptz, ${members}::smallint FROM locked l
        WHERE previous IS NULL OR EXISTS (SELECT 1 FROM relayer_broadcasts o WHERE o.attempt_id = l.id)
        ON CONFLICT (attempt_id) DO UPDATE SET nonce = excluded.nonce, hash = excluded.hash,
          max_fee = excluded.max_fee, sent_at = excluded.sent_at, members = excluded.members, blamed = false
        -- A first record has no previous hash and so replaces none.
        WHERE b.hash = (SELECT l.previous FROM locked l WHERE l.id = b.attempt_id)
        RETURNING b.attempt_id`).pipe(unavailable)
      const noted = yield* Effect.forEach(rows, readNoted)
      return new Set(noted.map(({ attemptId }) => attemptId))
    })

    return { find, note }
  }),
}) {
  static readonly layer = Layer.effect(this, this.make)
}
