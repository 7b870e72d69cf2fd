/** Whether a read costs more with a long history: the same reads beside 1,000 and 1,000,000 acts, interleaved. */
import { createHash, randomBytes } from "node:crypto"
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import * as Sql from "../../src/platform/Sql.ts"
import type { Contest } from "./Contests.ts"
import * as Databases from "./Databases.ts"
import { median } from "./Figures.ts"
import { inTurn } from "./Load.ts"
import { freePort, serving } from "./Processes.ts"
import type { Held, Outcome } from "./Running.ts"
import { type Side, takeTurns } from "./Rounds.ts"

interface Sizes {
  readonly acts: number
  readonly stones: number
}

const small: Sizes = { acts: 1_000, stones: 100 }
const large: Sizes = { acts: 1_000_000, stones: 100_000 }

const token = randomBytes(32).toString("base64url")
const digest = createHash("sha256").update(token).digest()

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

/** Rooms with one message each, made by the database itself; all open to the one token. */
const fillRooms = Effect.fnUntraced(function* ({ acts: rooms }: Sizes) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`INSERT INTO rooms (id, name, token_digest, created_at, expires_at, latest_sequence)
    SELECT ('00000000-0000-4000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, 'Room', ${digest}, now(),
      now() + interval '7 days', 1 FROM generate_series(1, ${rooms}::int) AS n`
  yield* sql`INSERT INTO room_messages (room_id, place, sequence, body) SELECT id, 1, 1,
    '{"id":"' || id || '","seq":1,"sender":"Wren","senderKind":"person","text":"Green.","mode":"calm","createdAt":"2026-11-21T09:17:02.115Z"}'
    FROM rooms`
  for (const table of ["rooms", "room_messages"]) yield* sql.unsafe(`ANALYZE ${table}`)
})

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
    ["/api/rooms/{id}", `/api/rooms/${uuid(acts / 2)}`],
  ]
}

const medianOf = async (to: string, path: string, times: number) => {
  // Another caller for each, so that none meets a limit.
  const shots = Array.from({ length: times }, () => ({
    method: "GET" as const,
    path,
    headers: { authorization: `Bearer ${token}`, "x-forwarded-for": `10.${[...randomBytes(3)].join(".")}` },
  }))
  return { value: median(await inTurn(to, shots, 200)) }
}

export const run = async (chosen: ReadonlyArray<Contest>, held: Held): Promise<Outcome> => {
  const outcome: Outcome = { figures: [], latencies: [] }
  const databases = await Databases.open()
  const fill = (url: string, sizes: Sizes) =>
    Effect.runPromise(
      Effect.all([fillActs(sizes), fillStones(sizes), fillRooms(sizes)]).pipe(
        Effect.provide(Sql.layer(Redacted.make(url), 1)),
      ),
    )
  const { close, serve } = serving()
  /** Serving once migrates and publishes, as a start does; then the history is put in. */
  const filled = async (database: string, sizes: Sizes) => {
    const environment = { DATABASE_URL: database, TRUSTED_PROXIES: "127.0.0.1", LOG_LEVEL: "None" }
    const served = await serve("../../src/start.js", { ...environment, PORT: String(await freePort()) })
    held.say(`  filling ${sizes.acts} acts and rooms and ${sizes.stones} stones`)
    await fill(database, sizes)
    return served
  }
  try {
    const sides = { ours: await filled(databases.ours, large), peer: await filled(databases.peer, small) }
    const paths = { ours: reads(large), peer: reads(small) }
    for (const [index, [name, path]] of paths.ours.entries()) {
      const one = (side: Side) => medianOf(sides[side].url, paths[side][index]?.[1] ?? path, 40)
      for (const { name: contest, wanted } of chosen) {
        const rounds = await takeTurns(held.rounds, one)
        outcome.figures.push({ name: contest, what: name, unit: "ms", wanted, rounds })
      }
    }
    return { ...outcome, about: databases.about }
  } finally {
    await close()
    await databases.close()
  }
}
