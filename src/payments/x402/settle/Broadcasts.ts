/** The relayer's transactions: one row for each nonce of a key, recorded before its transaction is sent. */
import { Context, Effect, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { Hex } from "viem"
import { rowReader, rowsOf, Whole } from "../../../platform/Rows.ts"
import { retryConflicts } from "../../../platform/Sql.ts"
import { HexText, Word } from "../chain/Eip3009.ts"
import type { Attempt } from "../../store/Attempt.ts"
import { plainGas } from "./Fees.ts"

/** A signed transaction under a nonce of a key. */
export interface Signed {
  readonly sender: Hex
  readonly nonce: number
  readonly hash: Hex
  readonly raw: Hex
}

export interface Claiming extends Signed {
  readonly attempt: string
  /** The state the attempt must still have. */
  readonly state: Attempt["state"]
  /** The gas that is lost if the transfer does not pay; zero for a trusted wallet, above `plainGas` for one with code. */
  readonly gasAtRisk: bigint
  /** The maximum of that gas in flight, of plain wallets or of those with code, and the first nonce that is in no block. */
  readonly gasAtMost: bigint
  readonly mined: number
}

const readRecorded = rowReader("relayer_broadcasts", Schema.Struct({ sender: HexText, nonce: Whole, hash: Word }))
const rowsInFlight = rowsOf(
  "relayer_broadcasts",
  Schema.Struct({
    sender: HexText,
    nonce: Whole,
    hash: Word,
    raw: HexText,
    ageMillis: Schema.Finite,
    /** Whether the payment is still wanted and has time to be mined. */
    isPayable: Schema.Boolean,
  }),
)
/** A transaction that may be in no block. */
export type OpenBroadcast = Signed & { readonly ageMillis: number; readonly isPayable: boolean }

const lineOf = rowsOf("relayer_broadcasts", Schema.Struct({ next: Whole, gasAtRisk: Schema.BigIntFromString }))
const unpaidRows = rowsOf("relayer_broadcasts", Schema.Struct({ hash: Word, raw: HexText }))
const factsOf = rowsOf("payment_attempts", Schema.Struct({ is: Schema.Boolean }))

/** Seconds of validity an authorization needs to be sent at our cost. */
export const leastLife = 6

/** An attempt that is to be paid: pending, or settled by a transfer whose block may have been orphaned. */
const isWanted = `a.finality = 'pending' AND a.state IN ('pending', 'settled')
  AND a.valid_before >= extract(epoch FROM clock_timestamp()) + ${leastLife}`

export class Broadcasts extends Context.Service<Broadcasts>()("spirit-altar/payments/x402/settle/Broadcasts", {
  make: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const wanted = sql.literal(isWanted)
    const isOfCode = sql.literal(`(gas_at_risk > ${plainGas})`)

    /** The transaction of an attempt. An attempt has at most one nonce. */
    const find = Effect.fn("Broadcasts.find")(function* (attempt: string) {
      const [row] = yield* sql`
        SELECT sender, nonce, hash FROM relayer_broadcasts WHERE attempt_id = ${attempt}::uuid`
      return row === undefined ? Option.none() : Option.some(yield* readRecorded(row))
    })

    /** The nonce after all recorded ones, and the gas at risk from this nonce on: of plain wallets, or of those with code. */
    const line = Effect.fn("Broadcasts.line")((sender: Hex, mined: number, hasCode = false) =>
      lineOf(sql`
        SELECT (SELECT coalesce(max(nonce) + 1, 0) FROM relayer_broadcasts WHERE sender = ${sender}) AS next, (
          SELECT coalesce(sum(gas_at_risk), 0)::text FROM relayer_broadcasts
          WHERE sender = ${sender} AND nonce >= ${mined}::bigint AND ${isOfCode} = ${hasCode}) AS gas_at_risk`).pipe(
        Effect.map(([row]) => row ?? { next: 0, gasAtRisk: 0n }),
      ),
    )

    /**
     * Records a transaction before it is sent. False if another server uses the nonce or sends the payment, if the
     * payment is no longer wanted, or if too much gas is at risk.
     */
    const claim = Effect.fn("Broadcasts.claim")(function* (broadcast: Claiming) {
      const { attempt, gasAtMost, gasAtRisk, hash, mined, nonce, raw, sender, state } = broadcast
      const rows = yield* retryConflicts(sql`
        WITH wanted AS MATERIALIZED (
          -- Locks the attempt, so that it is not ended as never sent at the same time.
          SELECT a.id FROM payment_attempts a
          WHERE a.id = ${attempt}::uuid AND a.state = ${state} AND ${wanted} FOR UPDATE
        )
        INSERT INTO relayer_broadcasts (sender, nonce, attempt_id, hash, raw, gas_at_risk, sent_at)
        SELECT ${sender}, ${nonce}::bigint, id, ${hash}, ${raw}, ${gasAtRisk.toString()}::bigint, clock_timestamp()
        FROM wanted WHERE ${gasAtRisk.toString()}::bigint = 0 OR ${gasAtMost.toString()}::bigint >= (
          SELECT coalesce(sum(gas_at_risk), 0) + ${gasAtRisk.toString()}::bigint FROM relayer_broadcasts
          WHERE sender = ${sender} AND nonce >= ${mined}::bigint AND ${isOfCode} = ${gasAtRisk > plainGas})
        ON CONFLICT DO NOTHING RETURNING nonce`)
      return rows.length > 0
    })

    /** Whether the payment is still wanted and no server has recorded a transaction of it. */
    const isUnsent = Effect.fn("Broadcasts.isUnsent")((attempt: string, state: Attempt["state"]) =>
      factsOf(sql`
        SELECT NOT EXISTS (SELECT 1 FROM relayer_broadcasts WHERE attempt_id = a.id) AS "is"
        FROM payment_attempts a WHERE a.id = ${attempt}::uuid AND a.state = ${state} AND ${wanted}`).pipe(
        Effect.map(([row]) => row?.is === true),
      ),
    )

    /** The transactions of a key from this nonce on, in order. */
    const inFlight = Effect.fn("Broadcasts.inFlight")((sender: Hex, mined: number, limit: number) =>
      rowsInFlight(sql`
        SELECT b.sender, b.nonce, b.hash, b.raw, coalesce(${wanted}, false) AS is_payable,
          (extract(epoch FROM clock_timestamp() - b.sent_at) * 1000)::float8 AS age_millis
        FROM relayer_broadcasts b LEFT JOIN payment_attempts a ON a.id = b.attempt_id
        WHERE b.sender = ${sender} AND b.nonce >= ${mined}::bigint AND b.raw IS NOT NULL
        ORDER BY b.nonce LIMIT ${limit}::int`),
    )

    /** Records the replacement of a transaction. False if another server was faster. */
    const replace = Effect.fn("Broadcasts.replace")(function* (before: Hex, { hash, nonce, raw, sender }: Signed) {
      const rows = yield* sql`
        UPDATE relayer_broadcasts SET hash = ${hash}, raw = ${raw}, sent_at = clock_timestamp()
        WHERE sender = ${sender} AND nonce = ${nonce}::bigint AND hash = ${before} RETURNING nonce`
      return rows.length > 0
    })

    /** Records an empty transaction under a nonce that no row has. */
    const fill = Effect.fn("Broadcasts.fill")(function* ({ hash, nonce, raw, sender }: Signed) {
      const rows = yield* sql`
        INSERT INTO relayer_broadcasts (sender, nonce, hash, raw, sent_at)
        VALUES (${sender}, ${nonce}::bigint, ${hash}, ${raw}, clock_timestamp())
        ON CONFLICT DO NOTHING RETURNING nonce`
      return rows.length > 0
    })

    /** Transactions of the last hour below this nonce that settled nothing, and whose loss is not recorded. */
    const unpaid = Effect.fn("Broadcasts.unpaid")((sender: Hex, mined: number, limit: number) =>
      unpaidRows(sql`
        SELECT b.hash, b.raw FROM relayer_broadcasts b LEFT JOIN payment_attempts a ON a.id = b.attempt_id
        WHERE b.sender = ${sender} AND b.nonce < ${mined}::bigint AND b.raw IS NOT NULL AND b.lost_at IS NULL
          AND b.sent_at > now() - interval '1 hour'
          AND (a.state IS DISTINCT FROM 'settled' OR COALESCE(a.current_transaction, a.transaction) IS DISTINCT FROM b.hash)
        ORDER BY b.nonce DESC LIMIT ${limit}::int`),
    )

    /** Records the fee of a transaction that did not pay. */
    const lose = Effect.fn("Broadcasts.lose")(
      (hash: Hex, wei: bigint) =>
        sql`UPDATE relayer_broadcasts SET lost_wei = ${wei.toString()}::numeric, lost_at = clock_timestamp()
          WHERE hash = ${hash} AND lost_at IS NULL`,
    )

    /** Limits a wallet to one payment in flight for an hour. True unless it is limited already. */
    const limit = Effect.fn("Broadcasts.limit")(function* (wallet: Hex) {
      const rows = yield* retryConflicts(sql`
        UPDATE payment_payers SET limited_until = now() + interval '1 hour'
        WHERE name = ${wallet} AND (limited_until IS NULL OR limited_until <= now()) RETURNING name`)
      return rows.length > 0
    })

    return { find, line, claim, isUnsent, inFlight, replace, fill, unpaid, lose, limit }
  }),
}) {
  static readonly layer = Layer.effect(this, this.make)
}

/** Forgets the bytes of transactions up to the last one of each key that is final by its act. */
export const forgetFinal = Effect.map(SqlClient.SqlClient, (sql) =>
  retryConflicts(sql`
    UPDATE relayer_broadcasts b SET raw = NULL FROM (
      SELECT o.sender, max(o.nonce) AS nonce FROM relayer_broadcasts o JOIN payment_attempts a ON a.id = o.attempt_id
      WHERE o.raw IS NOT NULL AND a.finality = 'final' AND COALESCE(a.current_transaction, a.transaction) = o.hash
      GROUP BY o.sender
    ) AS f WHERE b.sender = f.sender AND b.nonce <= f.nonce AND b.raw IS NOT NULL`),
)
