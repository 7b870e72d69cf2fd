/** Attempts settled on chain whose block may still be reorganised: leases the due ones and stores findings. */
import { Context, Effect, Layer, Option, Schema } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import type { Hex } from "viem"
import * as Batcher from "../../platform/Batcher.ts"
import { isRefused, retryConflicts } from "../../platform/Sql.ts"
import { Moment, readable, rowReader } from "../../platform/Rows.ts"
import * as Trace from "../../platform/Trace.ts"
import { Word } from "../Hex.ts"
import { type ChainPayment, paymentColumns, readChainPayment } from "../Payment.ts"
import { type FailureVerdict, readVerdict, setVerdict, verdictColumns } from "./Attempt.ts"

interface Confirmed {
  readonly id: string
  readonly finality: "pending" | "final"
  readonly block: bigint
  readonly moved: Option.Option<Hex>
}

const Row = Schema.Struct({
  id: Schema.String,
  act: Schema.String,
  transaction: Word,
  /** The transaction that holds the transfer after a reorganisation, if not the recorded one. */
  currentTransaction: Schema.OptionFromNullOr(Word),
  /** The block it was last found in; none if an older version settled it. */
  settledBlock: Schema.OptionFromNullOr(Schema.BigInt),
  checks: Schema.Int,
  acceptedAt: Moment,
  /** Whether its block is not final yet. The inquiry is to notice an orphaned block in time. */
  isEarly: Schema.Boolean,
})

export type SettledTransfer = typeof Row.Type & {
  readonly payment: ChainPayment
  readonly pendingLoss: FailureVerdict | null
}

const columns = [
  "id, act, accepted_at, current_transaction, settled_block, checks",
  ...paymentColumns,
  ...verdictColumns,
].join(", ")

const readRow = rowReader("payment_attempts", Row)

const readTransfer = Effect.fnUntraced(function* (row: unknown): Effect.fn.Return<SettledTransfer> {
  return { ...(yield* readRow(row)), payment: yield* readChainPayment(row), pendingLoss: yield* readVerdict(row) }
})

/** Seconds before an authorization expires in which another server may submit it, since its holder may be down. */
const lastSeconds = 20

export class SettledTransfers extends Context.Service<SettledTransfers>()(
  "spirit-altar/payments/store/SettledTransfers",
  {
    make: Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const unfinal = sql.literal("state = 'settled' AND finality = 'pending' AND rail = 'x402'")
      // Uses the database's clock, since the clocks of servers differ.
      const inMillis = (millis: number) => sql`now() + ${millis}::float8 * interval '1 millisecond'`

      /** Whether any transfer is due. Otherwise the chain is not queried. */
      const isAnyDue = Effect.gen(function* () {
        const rows = yield* sql`SELECT 1 FROM payment_attempts WHERE ${unfinal} AND next_check_at <= now() LIMIT 1`
        return rows.length > 0
      }).pipe(Effect.orDie)

      /**
       * Leases due transfers settled at or below the final block for `leaseMillis`. Also those above it whose
       * authorization can still pay: after 10 seconds, 20, 40 and so on, at least every minute.
       */
      const lease = Effect.fn("SettledTransfers.lease")(function* (
        limit: number,
        finalBlock: bigint,
        leaseMillis: number,
      ) {
        const rows = yield* retryConflicts(sql`
        UPDATE payment_attempts SET next_check_at = CASE
          -- Most have not moved, so their next inquiry is scheduled here.
          WHEN settled_block > ${finalBlock}::bigint THEN now() + least(now() - ended_at, interval '1 minute')
          ELSE ${inMillis(leaseMillis)} END
        WHERE id IN (
          SELECT id FROM payment_attempts
          WHERE ${unfinal} AND next_check_at <= now()
            AND (settled_block IS NULL OR settled_block <= ${finalBlock}::bigint
              OR (ended_at <= now() - interval '10 seconds' AND valid_before > extract(epoch FROM now())))
          ORDER BY next_check_at LIMIT ${limit}::int FOR UPDATE SKIP LOCKED)
        RETURNING ${sql.literal(columns)}, COALESCE(settled_block > ${finalBlock}::bigint, false) AS is_early`).pipe(
          Effect.orDie,
        )
        return { taken: rows.length, transfers: yield* readable(rows, readTransfer) }
      })

      // Each confirmation is a commit: concurrent ones share it.
      const confirmSoon = yield* Batcher.make<Confirmed, true, SqlError.SqlError>({
        keysOf: ({ id }) => [id],
        retriesAlone: isRefused,
        run: (found) => {
          const rows = found.map(({ block, finality, id, moved }) => ({
            id,
            finality,
            block: block.toString(),
            moved: Option.getOrNull(moved),
          }))
          return retryConflicts(sql`
          UPDATE payment_attempts a SET finality = f.finality, settled_block = f.block, current_transaction = f.moved,
            checks = a.checks + 1, doubted_at = NULL, doubted_reason = NULL
          FROM json_to_recordset(${JSON.stringify(rows)}::json) AS f(id uuid, finality text, block bigint, moved text)
          WHERE a.id = f.id AND a.state = 'settled' AND a.finality = 'pending' AND a.rail = 'x402'`).pipe(
            Effect.as(found.map(() => true as const)),
          )
        },
      })

      /**
       * Records the block that holds the transfer, a `moved` transaction if it is not the recorded one, and whether
       * that is final. Inquiries that began earlier no longer count.
       */
      const confirm = (id: string, finality: Confirmed["finality"], block: bigint, moved: Option.Option<Hex>) =>
        confirmSoon({ id, finality, block, moved }).pipe(
          Effect.asVoid,
          Effect.orDie,
          Trace.span("SettledTransfers.confirm"),
        )

      /**
       * Holds the transfer for this server before a submission, at most until 20 seconds before its authorization
       * expires. None if another server has inquired since the lease.
       */
      const hold = Effect.fn("SettledTransfers.hold")(function* (transfer: SettledTransfer, holdMillis: number) {
        const { checks, id } = transfer
        const rows = yield* retryConflicts(sql`
        UPDATE payment_attempts SET checks = checks + 1, next_check_at = least(${inMillis(holdMillis)},
          now() + greatest(valid_before - ${lastSeconds}::int - extract(epoch FROM now()), 0) * interval '1 second')
        WHERE id = ${id}::uuid AND ${unfinal} AND checks = ${checks}::int RETURNING id`).pipe(Effect.orDie)
        return rows.length > 0 ? Option.some({ ...transfer, checks: checks + 1 }) : Option.none()
      })

      /**
       * Stores an undecided inquiry: the reason to call it lost if the next one agrees, and milliseconds until then.
       * Has no effect if another server has inquired since.
       */
      const defer = Effect.fn("SettledTransfers.defer")(function* (
        { checks, id }: SettledTransfer,
        reason: string | null,
        pauseMillis: number,
      ) {
        yield* sql`
        UPDATE payment_attempts SET checks = checks + 1, next_check_at = ${inMillis(pauseMillis)},
          ${setVerdict(reason)}
        WHERE id = ${id}::uuid AND ${unfinal} AND checks = ${checks}::int`.pipe(Effect.orDie)
      })

      /** Marks the transfer as lost if the verdict of the earlier inquiry still stands. True for the first server. */
      const lose = Effect.fn("SettledTransfers.lose")((id: string, { at, reason }: FailureVerdict) =>
        sql`
        UPDATE payment_attempts SET finality = 'lost'
        WHERE id = ${id}::uuid AND ${unfinal} AND doubted_reason = ${reason}::text AND doubted_at = ${at}::timestamptz
        RETURNING id`.pipe(
          Effect.map((rows) => rows.length > 0),
          Effect.orDie,
        ),
      )

      return { isAnyDue, lease, hold, confirm, defer, lose }
    }),
  },
) {
  static readonly layer = Layer.effect(this, this.make)
}
