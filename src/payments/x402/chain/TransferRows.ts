/** The table of transfers to us that the scan has read, and how far it has read the chain. */
import { AddressText, type Transfer, Word } from "./Eip3009.ts"
import { Effect, Option, Schema } from "effect"
import { SqlClient, type SqlError, type Statement } from "effect/sql"
import type { Hex } from "viem"
import type { Address } from "../../../../schema/Common.ts"
import { rowsOf } from "../../../platform/Rows.ts"
import { part, transaction } from "../../../platform/Sql.ts"
import type { Block, BlockId } from "./Rpc.ts"

export interface Token {
  /** CAIP-2. */
  readonly network: string
  readonly asset: Address
}

const place = { number: Schema.BigIntFromString, hash: Word }

const Cursor = Schema.Struct({
  /** The wallets whose incoming transfers were read: ours, and those that were ours before. */
  recipients: Schema.fromJsonString(Schema.Array(AddressText)),
  /** The last block read while it was final. */
  final: Schema.Struct({ ...place, timestamp: Schema.BigIntFromString }),
  /** The last block read at all. */
  head: Schema.Struct(place),
  /** Whether an earlier scan found another block at the number of `final`, at least a sweep ago. */
  isDoubtOld: Schema.Boolean,
})
export type Cursor = typeof Cursor.Type

/** A transfer to us as the scan has read it. It may be in no block any more unless it is final. */
const ScannedTransfer = Schema.Struct({
  recipient: AddressText,
  amount: Schema.BigIntFromString,
  transaction: Word,
  block: Schema.Struct(place),
  isFinal: Schema.Boolean,
})
export type ScannedTransfer = typeof ScannedTransfer.Type

/** Blocks that were read, both ends included. `end` is the last of them. */
export interface ReadRange {
  readonly from: bigint
  readonly end: Block
  readonly transfers: ReadonlyArray<Transfer>
}

const cursorRows = rowsOf("chain_scans", Cursor)
const transferRows = rowsOf("chain_transfers", ScannedTransfer)
const missingRows = rowsOf("chain_transfers", Schema.Struct({ block: Schema.BigInt, blockHash: Word }))

/** The name of an authorization in all tables. It equals the claim of an attempt. */
export const nameOf = ({ asset, network }: Token, { nonce, payer }: Pick<Transfer, "payer" | "nonce">) =>
  `authorization:${network}:${asset}:${payer}:${nonce}`.toLowerCase()

export const make = Effect.fnUntraced(function* (token: Token) {
  const sql = yield* SqlClient.SqlClient
  const inTransaction = yield* transaction
  const here = part`network = ${token.network} AND asset = ${token.asset.toLowerCase()}`
  const columns = sql.literal("final_block, final_hash, final_time, head_block, head_hash")
  const afterMillis = (millis: number) => sql`now() + ${millis}::float8 * interval '1 millisecond'`

  const cursor = (apartMillis: number) =>
    Effect.map(
      cursorRows(sql`
        SELECT recipients, COALESCE(doubted_at <= ${afterMillis(-apartMillis)}, false) AS is_doubt_old,
          json_build_object('number', final_block::text, 'hash', final_hash, 'timestamp', final_time::text) AS final,
          json_build_object('number', head_block::text, 'hash', head_hash) AS head
        FROM chain_scans WHERE ${here}`),
      ([row]) => Option.fromUndefinedOr(row),
    )

  /** The transfer of an authorization, which may be of an earlier token. */
  const find = (asset: Address, authorization: Pick<Transfer, "payer" | "nonce">) =>
    transferRows(
      sql`SELECT pay_to AS recipient, amount_atomic::text AS amount, transaction, is_final,
          json_build_object('number', block::text, 'hash', block_hash) AS block
        FROM chain_transfers WHERE name = ${nameOf({ ...token, asset }, authorization)}`,
    ).pipe(Effect.map(([row]) => Option.fromUndefinedOr(row)))

  /** Takes the next scan for this server, so that several servers together scan once in this time. */
  const lease = (everyMillis: number) =>
    sql`UPDATE chain_scans SET due_at = ${afterMillis(everyMillis)} WHERE ${here} AND due_at <= now()
      RETURNING network`.pipe(Effect.map((rows) => rows.length > 0))

  /**
   * Starts at this block, or starts again there: for the first time, for another recipient, or on another chain. Rows
   * above it are provisional until they are read again.
   */
  const startAt = Effect.fnUntraced(function* ({ hash, number, timestamp }: Block, recipients: ReadonlyArray<Address>) {
    const wallets = JSON.stringify(recipients.map((wallet) => wallet.toLowerCase()).sort())
    yield* inTransaction(
      Effect.andThen(
        sql`
          INSERT INTO chain_scans (network, asset, recipients, ${columns})
          VALUES (${token.network}, ${token.asset.toLowerCase()}, ${wallets}, ${number}::bigint, ${hash},
            ${timestamp}::bigint, ${number}::bigint, ${hash})
          ON CONFLICT (network, asset) DO UPDATE SET recipients = excluded.recipients,
            final_block = excluded.final_block, final_hash = excluded.final_hash, final_time = excluded.final_time,
            head_block = excluded.head_block, head_hash = excluded.head_hash, doubted_at = NULL`,
        sql`UPDATE chain_transfers SET is_final = false WHERE ${here} AND block > ${number}::bigint AND is_final`,
      ),
    )
  })

  const rowOf = (transfer: Transfer) => ({
    name: nameOf(token, transfer),
    payer: transfer.payer,
    nonce: transfer.nonce,
    pay_to: transfer.recipient,
    amount_atomic: String(transfer.amount),
    transaction: transfer.transaction.toLowerCase(),
    block: String(transfer.block),
    block_hash: transfer.blockHash,
    log_index: transfer.index,
  })

  /** The provisional transfers in these blocks that this reading lacks, but for those of replaced blocks. */
  const missing = ({ end, from, transfers }: ReadRange, replaced: ReadonlyArray<Hex> = []) =>
    missingRows(
      sql`SELECT DISTINCT block, block_hash FROM chain_transfers
        WHERE ${here} AND NOT is_final AND block BETWEEN ${from}::bigint AND ${end.number}::bigint
          AND name <> ALL(${transfers.map((transfer) => nameOf(token, transfer))}::text[])
          AND block_hash <> ALL(${replaced}::text[]) ORDER BY block`,
    ).pipe(Effect.map((all) => all.map(({ block, blockHash }): BlockId => ({ number: block, hash: blockHash }))))

  /** Replaces the provisional rows of these blocks. A final row stays unless a final block holds another transfer. */
  const replace = ({ end, from, transfers }: ReadRange, isFinal: boolean) =>
    Effect.andThen(
      sql`DELETE FROM chain_transfers
        WHERE ${here} AND NOT is_final AND block BETWEEN ${from}::bigint AND ${end.number}::bigint`,
      // Without a transfer this changes nothing.
      sql`
        INSERT INTO chain_transfers AS t (name, network, asset, payer, nonce, pay_to, amount_atomic, transaction, block,
          block_hash, log_index, is_final)
        SELECT DISTINCT ON (name) name, ${token.network}::text, ${token.asset.toLowerCase()}::text, payer, nonce, pay_to,
          amount_atomic, transaction, block, block_hash, log_index, ${isFinal}::boolean
        FROM json_to_recordset(${JSON.stringify(transfers.map(rowOf))}::json) AS r(name text, payer text, nonce text,
          pay_to text, amount_atomic numeric, transaction text, block bigint, block_hash text, log_index int)
        ORDER BY name, block DESC
        ON CONFLICT (name) DO UPDATE SET pay_to = excluded.pay_to, amount_atomic = excluded.amount_atomic,
          transaction = excluded.transaction, block = excluded.block, block_hash = excluded.block_hash,
          log_index = excluded.log_index, is_final = excluded.is_final
        WHERE excluded.is_final OR NOT t.is_final`,
    )

  /** Changes the table while no other server moves the cursor. False if one has moved it. */
  const whileAt = (place: Statement.Fragment, change: Effect.Effect<boolean, SqlError.SqlError>) =>
    inTransaction(
      Effect.flatMap(sql`SELECT network FROM chain_scans WHERE ${here} AND ${place} FOR UPDATE`, ({ length }) =>
        length === 0 ? Effect.succeed(false) : change,
      ),
    )

  const atHead = ({ hash, number }: BlockId) => part`head_block = ${number}::bigint AND head_hash = ${hash}`

  /**
   * Records a range that was read while its blocks were final. False if it lacks a transfer that was seen before, unless
   * that one's block was replaced.
   */
  const commitFinal = (range: ReadRange, replaced: ReadonlyArray<Hex>) => {
    const { hash, number, timestamp } = range.end
    const commit = Effect.andThen(
      sql`UPDATE chain_scans SET final_block = ${number}::bigint, final_hash = ${hash}, final_time = ${timestamp}::bigint,
          head_block = greatest(head_block, ${number}::bigint),
          head_hash = CASE WHEN head_block > ${number}::bigint THEN head_hash ELSE ${hash} END, doubted_at = NULL
        WHERE ${here}`,
      replace(range, true),
    )
    return whileAt(
      part`final_block = ${range.from - 1n}::bigint`,
      Effect.flatMap(missing(range, replaced), ({ length }) =>
        length > 0 ? Effect.succeed(false) : Effect.as(commit, true),
      ),
    )
  }

  const moveHead = ({ hash, number }: BlockId) =>
    sql`UPDATE chain_scans SET head_block = ${number}::bigint, head_hash = ${hash} WHERE ${here}`

  /** Records a range above the final block, read after the block `before`. */
  const commitHead = (range: ReadRange, before: BlockId) =>
    whileAt(
      part`${atHead(before)} AND final_block < ${range.end.number}::bigint`,
      Effect.as(Effect.andThen(moveHead(range.end), replace(range, false)), true),
    )

  /** Drops the rows above this block, since the blocks above it were replaced. */
  const resetHead = (to: BlockId, before: BlockId) =>
    whileAt(
      atHead(before),
      Effect.as(
        Effect.andThen(
          moveHead(to),
          sql`DELETE FROM chain_transfers WHERE ${here} AND NOT is_final AND block > ${to.number}::bigint`,
        ),
        true,
      ),
    )

  /** Records that a node has another block where a final one was read. A later scan starts again if it agrees. */
  const doubt = sql`UPDATE chain_scans SET doubted_at = COALESCE(doubted_at, now()) WHERE ${here}`

  return { find, cursor, lease, startAt, missing, commitFinal, commitHead, resetHead, doubt }
})

export type TransferRows = Effect.Success<ReturnType<typeof make>>
