/** The peer's witness stones in PostgreSQL, written as a postgres.js user would: one head row, locked for every stone. */
import { createHash, randomUUID } from "node:crypto"
import postgres from "postgres"
import type { StoneRow } from "../../lab/Ledger.ts"

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

/** The same stones as ours, so that the reads can be compared byte by byte. */
export const seed = async (sql: Sql, stones: ReadonlyArray<StoneRow>) => {
  for (let from = 0; from < stones.length; from += 5_000) {
    const part = stones.slice(from, from + 5_000)
    const rows = JSON.stringify(part.map((stone) => ({ ...stone, idempotencyKey: `seeded-${stone.id}`, answer: "" })))
    await sql`
      INSERT INTO stones SELECT r.* FROM json_to_recordset(${rows}::text::json) AS r(sequence bigint, id uuid,
        "idempotencyKey" text, commitment text, kind text, spirit text, "agentName" text, "witnessedAt" text, payer text,
        transaction text, "previousHash" text, "chainHash" text, answer text)`
  }
  await sql`ANALYZE stones`
  const last = stones.at(-1)
  if (last !== undefined) await sql`UPDATE head SET sequence = ${last.sequence}, chain_hash = ${last.chainHash}`
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

interface Keeper {
  readonly spirit: string
  readonly id: string
  readonly keeper: string
  readonly agentName: string | null
  readonly keptAt: Date
}

export const keepersOf = (sql: Sql) => sql<Array<Keeper>>`SELECT spirit, id, keeper, agent_name, kept_at FROM keepers`
