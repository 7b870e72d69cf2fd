/** The content of the database, read in one snapshot. */
import postgres from "postgres"
import { soldActs } from "./Acts.ts"

const places = new Map(Object.values(soldActs).map(({ place, table }) => [table, place]))
const records = [...places]
  .map(([table, place]) => `SELECT '${table}' AS table, id, ${place} AS place FROM ${table}`)
  .join(" UNION ALL ")

/** The parts of the first answer, members in order. */
export interface StoredAnswer {
  readonly record: unknown
  readonly receipt: unknown
  readonly permalink: unknown
  readonly extra: object
}

export interface Attempt {
  readonly id: string
  readonly key: string
  readonly act: string
  readonly rail: "x402" | "card"
  /** Empty for a card, like the next four. */
  readonly network: string
  readonly asset: string
  readonly payTo: string
  readonly payer: string
  readonly nonce: string
  /** Atomic USDC, decimal. */
  readonly amount: string
  /** Seconds since 1970, decimal. */
  readonly validBefore: string
  /** Whether a card's granted token still lies in its row. */
  readonly keepsToken: boolean
  readonly pool: string | null
  readonly number: number | null
  readonly state: "pending" | "settled" | "failed"
  readonly finality: "pending" | "final" | "lost"
  readonly transaction: string | null
  readonly currentTransaction: string | null
  readonly acceptedAt: Date
  readonly nextCheckAt: Date
  readonly answer: StoredAnswer | null
  readonly paymentResponse: string | null
}

/** Reads everything at one moment; changes nothing. */
export const readLedger = async (databaseUrl: string) => {
  const sql = postgres(databaseUrl, { max: 1, onnotice: () => undefined })
  try {
    return await sql.begin("isolation level repeatable read read only", async (tx) => {
      const hidden = await tx<{ subject: string }[]>`SELECT id AS subject FROM acts WHERE hidden <> '{}'`
      return {
        attempts: await tx<Attempt[]>`
          SELECT id, idempotency_key AS key, act, rail, COALESCE(payment ->> 'network', '') AS network,
            lower(COALESCE(payment #>> '{authorization,asset}', '')) AS asset,
            lower(COALESCE(payment #>> '{authorization,to}', '')) AS "payTo", COALESCE(payer, '') AS payer,
            lower(COALESCE(payment #>> '{authorization,nonce}', '')) AS nonce, amount_atomic::text AS amount,
            valid_before::text AS "validBefore",
            payment ? 'token' AS "keepsToken", pool, pool_number AS number, state, finality,
            lower(transaction) AS transaction, lower(current_transaction) AS "currentTransaction",
            accepted_at AS "acceptedAt", next_check_at AS "nextCheckAt", answer, payment_response AS "paymentResponse"
          FROM payment_attempts`,
        /** By the claim of the payment that each returned. */
        refunds: await tx<
          { payment: string; transaction: string; attempt: string | null; shown: Readonly<Record<string, unknown>> }[]
        >`SELECT payment, transaction, attempt, shown::json AS shown FROM payment_refunds`,
        acts: await tx<{ id: string; act: string }[]>`
          SELECT id, act FROM acts ORDER BY settled_at, id`,
        /** The owner of each row of an act's table, and the columns that make it the only one of its kind. */
        records: await tx.unsafe<{ table: string; id: string; place: string }[]>(records),
        claims: await tx<{ name: string; attempt: string }[]>`SELECT name, attempt_id AS attempt FROM payment_claims`,
        pools: await tx<
          { name: string; highest: number; released: number[] }[]
        >`SELECT name, highest, released FROM payment_pools`,
        totals: await tx<{ settled: string; atomic: string }[]>`
          SELECT settled, settled_atomic::text AS atomic FROM payment_totals`,
        broadcasts: await tx<{ hash: string }[]>`SELECT lower(hash) AS hash FROM relayer_broadcasts`,
        /** Payments that bought nothing. */
        unmatched: await tx<{ name: string; amount: string; transaction: string }[]>`
          SELECT lower(name) AS name, amount_atomic::text AS amount, lower(transaction) AS transaction FROM unmatched_payments`,
        /** The last final block that the server has read, and the transfers up to it that it has not judged yet. */
        scans: await tx<{ asset: string; block: string }[]>`
          SELECT lower(asset) AS asset, final_block::text AS block FROM chain_scans`,
        unjudged: await tx<{ name: string }[]>`
          SELECT lower(name) AS name FROM chain_transfers WHERE NOT is_judged`,
        heads: await tx<{ chain: string; sequence: string; hash: string }[]>`
          SELECT 'witness' AS chain, sequence, chain_hash AS hash FROM witness_head
          UNION ALL SELECT 'publications', sequence, chain_hash FROM publication_head`,
        checkpoints: await tx<{ size: string; root: Buffer; note: string }[]>`
          SELECT size, root, note FROM log_checkpoints ORDER BY size`,
        logHead: await tx<{ size: string; root: Buffer; stopped: string | null }[]>`
          SELECT size, root, stopped_reason AS stopped FROM log_head WHERE id = 1`,
        /** Acts of which an operator hides something. */
        hidden: new Set(hidden.map(({ subject }) => subject)),
      }
    })
  } finally {
    await sql.end()
  }
}

export type Ledger = Awaited<ReturnType<typeof readLedger>>
