/** The peer's witness stones in PostgreSQL, written as a postgres.js user would: one head row, locked for every stone. */
import { createHash, randomUUID } from "node:crypto"
import postgres from "postgres"

export interface StoneRow {
  readonly sequence: number
  readonly id: string
  readonly commitment: string
  readonly kind: string
  readonly spirit: string
  readonly agentName: string | null
  readonly witnessedAt: string
  readonly payer: string
  readonly transaction: string
  readonly previousHash: string
  readonly chainHash: string
}

type NewStone = Pick<StoneRow, "commitment" | "kind" | "spirit" | "agentName" | "payer" | "transaction">

interface Head {
  readonly sequence: number
  readonly chainHash: string
}

interface Revealed {
  readonly revealText: string | null
  readonly revealHidden: boolean | null
  readonly revealAgentName: string | null
  readonly revealedAt: Date | null
}

/** One pool of the size ours has; postgres.js prepares every statement by itself. */
export const connect = (url: string) =>
  postgres(url, {
    max: 16,
    transform: postgres.camel,
    onnotice: () => {},
    types: { bigint: { to: 20, from: [20], serialize: String, parse: Number } },
  })

export type Sql = ReturnType<typeof connect>

export const createTables = async (sql: Sql) => {
  await sql`CREATE TABLE head (id int PRIMARY KEY, sequence bigint NOT NULL, chain_hash text NOT NULL)`
  await sql`INSERT INTO head VALUES (1, 0, ${"0".repeat(64)})`
  await sql`
    CREATE TABLE stones (
      sequence bigint PRIMARY KEY, id uuid NOT NULL UNIQUE, idempotency_key text NOT NULL UNIQUE,
      commitment text NOT NULL, kind text NOT NULL, spirit text NOT NULL, agent_name text, witnessed_at text NOT NULL,
      payer text NOT NULL, transaction text NOT NULL, previous_hash text NOT NULL, chain_hash text NOT NULL,
      answer text NOT NULL)`
  await sql`
    CREATE TABLE reveals (
      stone_id uuid PRIMARY KEY REFERENCES stones (id), salt text NOT NULL, text text NOT NULL,
      hidden boolean NOT NULL, agent_name text, revealed_at timestamptz(3) NOT NULL)`
  await sql`
    CREATE TABLE keepers (
      spirit text PRIMARY KEY, id uuid NOT NULL, keeper text NOT NULL, agent_name text, kept_at timestamptz(3) NOT NULL)`
}

/** Copies our stones, so that the reads can be compared byte by byte. */
export const seed = async (sql: Sql, ours: Sql) => {
  const rows = await ours<Array<StoneRow>>`
    SELECT sequence, id, commitment, kind, spirit, agent_name, witnessed_at, payer, transaction, previous_hash, chain_hash,
      'seeded-' || id AS idempotency_key, '' AS answer FROM witness_stones`
  await sql`INSERT INTO stones ${sql(rows)}`
  await sql`ANALYZE stones`
  await sql`UPDATE head SET (sequence, chain_hash) = (SELECT sequence, chain_hash FROM stones ORDER BY sequence DESC LIMIT 1)`
}

/** Appends one stone under the locked head; `answerOf` is stored beside it for replays. */
export const append = (sql: Sql, key: string, stone: NewStone, answerOf: (stone: StoneRow) => string) =>
  sql.begin(async (tx) => {
    const [head] = await tx<Array<Head>>`SELECT sequence, chain_hash FROM head WHERE id = 1 FOR UPDATE`
    if (head === undefined) throw new Error("the chain has no head")
    const sequence = head.sequence + 1
    const previousHash = head.chainHash
    const witnessedAt = new Date().toISOString()
    const chainHash = createHash("sha256")
      .update([previousHash, sequence, stone.commitment, witnessedAt, stone.transaction].join("\u0000"))
      .digest("hex")
    const row: StoneRow = { ...stone, id: randomUUID(), sequence, witnessedAt, previousHash, chainHash }
    const answer = answerOf(row)
    // Sent together: postgres.js pipelines them.
    await Promise.all([
      tx`
        INSERT INTO stones VALUES (${sequence}, ${row.id}, ${key}, ${row.commitment}, ${row.kind}, ${row.spirit},
          ${row.agentName}, ${witnessedAt}, ${row.payer}, ${row.transaction}, ${previousHash}, ${chainHash}, ${answer})`,
      tx`UPDATE head SET sequence = ${sequence}, chain_hash = ${chainHash} WHERE id = 1`,
    ])
    return answer
  })

export const answerUnder = async (sql: Sql, key: string) => {
  const [row] = await sql<Array<{ answer: string }>>`SELECT answer FROM stones WHERE idempotency_key = ${key}`
  return row?.answer
}

export const newest = (sql: Sql, limit: number, before: number) =>
  sql<Array<StoneRow & Revealed>>`
    SELECT s.sequence, s.id, s.commitment, s.kind, s.spirit, s.agent_name, s.witnessed_at, s.payer, s.transaction,
      s.previous_hash, s.chain_hash, r.text AS reveal_text, r.hidden AS reveal_hidden,
      r.agent_name AS reveal_agent_name, r.revealed_at
    FROM stones s LEFT JOIN reveals r ON r.stone_id = s.id
    WHERE s.sequence < ${before} ORDER BY s.sequence DESC LIMIT ${limit}`

export const headOf = async (sql: Sql): Promise<Head> => {
  const [head] = await sql<Array<Head>>`SELECT sequence, chain_hash FROM head WHERE id = 1`
  return head ?? { sequence: 0, chainHash: "0".repeat(64) }
}

export const range = (sql: Sql, from: number, to: number) =>
  sql<Array<Omit<StoneRow, "kind" | "spirit" | "agentName">>>`
    SELECT sequence, id, commitment, witnessed_at, transaction, payer, previous_hash, chain_hash
    FROM stones WHERE sequence BETWEEN ${from} AND ${to} ORDER BY sequence`

export const keepersOf = (sql: Sql) =>
  sql<Array<Readonly<Record<"spirit" | "id" | "keeper", string>> & { agentName: string | null; keptAt: Date }>>`
    SELECT spirit, id, keeper, agent_name, kept_at FROM keepers`
