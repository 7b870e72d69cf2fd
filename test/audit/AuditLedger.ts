/** The content of the database, read in one snapshot. */
import postgres from "postgres"

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

export interface RefundRow {
  /** The claim of the payment that it returned. */
  readonly payment: string
  readonly transaction: string
  readonly attempt: string | null
  readonly shown: Readonly<Record<string, unknown>>
}

export interface Ledger {
  readonly attempts: ReadonlyArray<Attempt>
  readonly refunds: ReadonlyArray<RefundRow>
  readonly acts: ReadonlyArray<{ readonly id: string; readonly act: string }>
  /** The rows of the tables of acts: whose each is, and what makes it the only one of its kind. */
  readonly records: ReadonlyArray<{ readonly table: string; readonly id: string; readonly place: string }>
  readonly claims: ReadonlyArray<{ readonly name: string; readonly attempt: string }>
  readonly pools: ReadonlyArray<{ readonly name: string; readonly highest: number; readonly released: number[] }>
  readonly totals: ReadonlyArray<{ readonly settled: string; readonly atomic: string }>
  readonly broadcasts: ReadonlyArray<{ readonly hash: string }>
  /** Payments that bought nothing. */
  readonly strays: ReadonlyArray<{ readonly name: string; readonly amount: string; readonly transaction: string }>
  /** The last final block that the server has read, and the transfers up to it that it has not judged yet. */
  readonly scans: ReadonlyArray<{ readonly asset: string; readonly block: string }>
  readonly unjudged: ReadonlyArray<{ readonly name: string }>
  readonly heads: ReadonlyArray<{ readonly chain: string; readonly sequence: string; readonly hash: string }>
  readonly checkpoints: ReadonlyArray<{ readonly size: string; readonly root: Buffer; readonly note: string }>
  readonly logHead: ReadonlyArray<{ readonly size: string; readonly root: Buffer; readonly stopped: string | null }>
  /** Acts of which an operator hides something. */
  readonly hidden: ReadonlySet<string>
}

/** Reads everything at one moment; changes nothing. */
export const readLedger = async (databaseUrl: string): Promise<Ledger> => {
  const sql = postgres(databaseUrl, { max: 1, onnotice: () => undefined })
  try {
    return await sql.begin("isolation level repeatable read read only", async (tx) => {
      const checkpointsIn = (table: string) =>
        tx<Ledger["checkpoints"][number][]>`SELECT size, root, note FROM ${tx(table)} ORDER BY size`
      const headOf = (log: number) =>
        tx<Ledger["logHead"][number][]>`SELECT size, root, stopped_reason AS stopped FROM log_head WHERE id = ${log}`
      const hidden = await tx<{ subject: string }[]>`SELECT subject FROM moderation_hidden`
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
        refunds: await tx<RefundRow[]>`SELECT payment, transaction, attempt, shown::json AS shown FROM payment_refunds`,
        acts: await tx<Ledger["acts"][number][]>`
          SELECT id, act FROM acts ORDER BY settled_at, id`,
        records: await tx<Ledger["records"][number][]>`
          SELECT 'prayers' AS table, id, spirit || ' on ' || day AS place FROM prayers
          UNION ALL SELECT 'keepers', id, spirit FROM keepers
          UNION ALL SELECT 'collectibles', id, element_id || ' ' || edition FROM collectibles
          UNION ALL SELECT 'candles', id, id::text FROM candles
          UNION ALL SELECT 'witness_stones', id, sequence::text FROM witness_stones`,
        claims: await tx<Ledger["claims"][number][]>`SELECT name, attempt_id AS attempt FROM payment_claims`,
        pools: await tx<Ledger["pools"][number][]>`SELECT name, highest, released FROM payment_pools`,
        totals: await tx<Ledger["totals"][number][]>`
          SELECT settled, settled_atomic::text AS atomic FROM payment_totals`,
        broadcasts: await tx<Ledger["broadcasts"][number][]>`SELECT lower(hash) AS hash FROM relayer_broadcasts`,
        strays: await tx<Ledger["strays"][number][]>`
          SELECT lower(name) AS name, amount_atomic::text AS amount, lower(transaction) AS transaction FROM payment_strays`,
        scans: await tx<Ledger["scans"][number][]>`
          SELECT lower(asset) AS asset, final_block::text AS block FROM chain_scans`,
        unjudged: await tx<Ledger["unjudged"][number][]>`
          SELECT lower(name) AS name FROM chain_transfers WHERE NOT is_judged`,
        heads: await tx<Ledger["heads"][number][]>`
          SELECT 'witness' AS chain, sequence, chain_hash AS hash FROM witness_head
          UNION ALL SELECT 'publications', sequence, chain_hash FROM publication_head`,
        checkpoints: await checkpointsIn("log_checkpoints"),
        logHead: await headOf(1),
        hidden: new Set(hidden.map(({ subject }) => subject)),
      }
    })
  } finally {
    await sql.end()
  }
}
