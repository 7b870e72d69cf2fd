/** Whether a read costs more with a long history: the same reads beside 1,000 and 1,000,000 acts, interleaved. */
import { createHash, randomBytes } from "node:crypto"
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import * as Sql from "../../src/platform/Sql.ts"
import { open } from "./Databases.ts"
import { ask, connect } from "./Load.ts"
import { freePort, type Served, start } from "./Processes.ts"

interface Sizes {
  readonly acts: number
  readonly stones: number
}

const small: Sizes = { acts: 1_000, stones: 100 }
const large: Sizes = { acts: 1_000_000, stones: 100_000 }

const payer = "0x70997970c51812dc3a010c7d01b50e0d17dc79c8"

const receipt = JSON.stringify({
  transaction: `0x${"cd".repeat(32)}`,
  network: "eip155:84532",
  asset: "0x036CbD53842c5426634e7929541eC2318f3dCF7e",
  amountAtomic: "10000",
  priceUsd: "$0.01",
  payer,
  payTo: payer,
  settledAt: "2026-01-01T00:00:00.000Z",
  explorerUrl: "https://explorer.example/tx",
})

/** Settled attempts and their acts, made by the database itself. */
const fillActs = Effect.fnUntraced(function* ({ acts }: Sizes) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`INSERT INTO payment_attempts (id, idempotency_key, fingerprint, act, url, input, network, asset, pay_to, payer,
      nonce, amount_atomic, valid_after, valid_before, signature, payload, from_block, state, finality, accepted_at, ended_at, next_check_at)
    SELECT ('00000000-0000-4000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, 'bench-key-' || n, '', 'lightDay', '', '{}',
      'eip155:84532', '0x', '0x', ${payer}, '0x' || n, 10000, 0, 9999999999, '0x', '{}', 0, 'settled', 'final',
      timestamptz '2026-01-01' + n * interval '1 second', timestamptz '2026-01-01' + n * interval '1 second', now()
    FROM generate_series(1, ${acts}::int) AS n`
  yield* sql`INSERT INTO acts (id, act, permalink, agent_name, settled_at, receipt, record)
    SELECT id, act, 'http://127.0.0.1/acts/' || id, NULL, ended_at, ${receipt}, '{"id":"' || id || '"}' FROM payment_attempts`
  // Candles of the past, and a few hundred that burn now, on both sides alike.
  yield* sql`INSERT INTO candles (id, spirit, rung, dedication, payer, transaction, lit_at, lit_until)
    SELECT id, 'moss-hare', 'day', 'For the bench', ${payer}, '0x', accepted_at,
      CASE WHEN row_number() OVER (ORDER BY id) <= 200 THEN timestamptz '2099-01-01' ELSE accepted_at END
    FROM payment_attempts`
  yield* sql`UPDATE payment_totals SET settled = ${acts}::bigint, settled_atomic = ${acts}::numeric * 10000`
})

/** A chain that hashes, with its stones inserted as they are settled. */
const fillStones = Effect.fnUntraced(function* ({ stones }: Sizes) {
  const sql = yield* SqlClient.SqlClient
  let previousHash = "0".repeat(64)
  const transaction = `0x${"cd".repeat(32)}`
  for (let from = 1; from <= stones; from += 5_000) {
    const rows = Array.from({ length: Math.min(5_000, stones - from + 1) }, (_, index) => {
      const sequence = from + index
      const commitment = randomBytes(32).toString("hex")
      const witnessedAt = new Date(1_767_225_600_000 + sequence * 1000).toISOString()
      const chainHash = createHash("sha256")
        .update([previousHash, sequence, commitment, witnessedAt, transaction].join("\0"))
        .digest("hex")
      const id = `00000000-0000-4000-8000-${sequence.toString(16).padStart(12, "0")}`
      const row = { sequence, id, commitment, witnessedAt, previousHash, chainHash }
      previousHash = chainHash
      return row
    })
    yield* sql`INSERT INTO witness_stones (sequence, id, commitment, kind, spirit, witnessed_at, payer, transaction, previous_hash, chain_hash)
      SELECT sequence, id, commitment, 'intention', 'moss-hare', "witnessedAt", ${payer}, ${transaction}, "previousHash", "chainHash"
      FROM json_to_recordset(${JSON.stringify(rows)}::json) AS r(sequence bigint, id uuid, commitment text,
        "witnessedAt" text, "previousHash" text, "chainHash" text)`
  }
  yield* sql`UPDATE witness_head SET sequence = ${stones}::bigint, chain_hash = ${previousHash}`
  for (const table of ["acts", "candles", "witness_stones", "payment_attempts"]) yield* sql.unsafe(`ANALYZE ${table}`)
})

const serve = async (database: string): Promise<Served> => {
  const port = await freePort()
  return start(["src/start.js", "serve"], { DATABASE_URL: database, PORT: String(port) })
}

/** What is read, with a place in the middle of each history. */
const reads = ({ acts, stones }: Sizes): ReadonlyArray<readonly [string, string]> => {
  const uuid = (n: number) => `00000000-0000-4000-8000-${n.toString(16).padStart(12, "0")}`
  return [
    ["/api/spirits", "/api/spirits"],
    ["/api/altars", "/api/altars"],
    ["/api/field", "/api/field"],
    ["/api/candles", "/api/candles?limit=20"],
    ["/api/acts", "/api/acts?limit=20"],
    ["/api/acts (deep page)", `/api/acts?limit=20&before=${uuid(acts / 2)}`],
    ["/api/acts/{id}", `/api/acts/${uuid(acts / 2)}`],
    ["/api/elements", "/api/elements"],
    ["/api/pixels", "/api/pixels"],
    ["/api/publish-chain", "/api/publish-chain"],
    ["/api/witness", "/api/witness?limit=20"],
    ["/api/witness/{id}", `/api/witness/${uuid(stones / 2)}`],
    ["/api/witness/chain", `/api/witness/chain?from=${stones / 2}&limit=50`],
    ["/api/health", "/api/health"],
  ]
}

const median = (values: ReadonlyArray<number>) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0

const medianOf = async (to: ReturnType<typeof connect>, path: string, times: number) => {
  const millis: Array<number> = []
  for (let n = 0; n < times; n++) {
    const started = performance.now()
    const { status } = await ask(to, { method: "GET", path })
    if (status !== 200) throw new Error(`${path} answered ${status}`)
    millis.push(performance.now() - started)
  }
  return median(millis)
}

/** Prints the table; `rounds` of 40 reads each, alternating between the two histories. */
export const run = async (rounds: number) => {
  const databases = await open()
  const fill = (url: string, sizes: Sizes) =>
    Effect.runPromise(
      Effect.andThen(fillActs(sizes), fillStones(sizes)).pipe(Effect.provide(Sql.layer(Redacted.make(url), 1))),
    )
  const servers: Array<Served> = []
  try {
    // Serving once migrates and publishes, as a start does; then the history is put in.
    for (const [url, sizes] of [
      [databases.peer, small],
      [databases.ours, large],
    ] as const) {
      servers.push(await serve(url))
      console.log(`  filling ${sizes.acts.toLocaleString("en")} acts and ${sizes.stones.toLocaleString("en")} stones`)
      await fill(url, sizes)
    }
    const [few, many] = servers.map(({ url }) => connect(url))
    if (few === undefined || many === undefined) return
    const smallReads = reads(small)
    console.log(
      `\n  median ms of a read        ${"1,000".padStart(10)} ${"1,000,000".padStart(10)} ${"ratio".padStart(7)}   wanted ≤ 1.5`,
    )
    for (const [index, [name, path]] of reads(large).entries()) {
      const pairs: Array<readonly [number, number]> = []
      for (let round = 0; round < rounds; round++) {
        pairs.push([await medianOf(few, smallReads[index]?.[1] ?? path, 40), await medianOf(many, path, 40)])
      }
      const ratio = median(pairs.map(([a, b]) => b / a))
      const [a, b] = [median(pairs.map(([one]) => one)), median(pairs.map(([, one]) => one))]
      console.log(
        `  ${name.padEnd(26)} ${a.toFixed(2).padStart(10)} ${b.toFixed(2).padStart(10)} ${ratio.toFixed(2).padStart(7)}   ${ratio <= 1.5 ? "ok" : "short"}`,
      )
    }
    await Promise.all([few.close(), many.close()])
  } finally {
    for (const server of servers) await server.stop()
    await databases.close()
  }
}

if (import.meta.main) await run(Number(process.argv[2] ?? 5))
