/** Settled acts, one public row each, and the records of each kind; `hidden` names what an operator hides of a row. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

const acts = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE TABLE acts (
      id uuid PRIMARY KEY REFERENCES payment_attempts (id),
      act text NOT NULL,
      permalink text NOT NULL,
      agent_name text,
      settled_at timestamptz(3) NOT NULL,
      receipt text NOT NULL,
      record text NOT NULL,
      hidden text[] NOT NULL DEFAULT '{}'
    )`
  yield* sql`CREATE INDEX acts_newest ON acts (settled_at DESC, id DESC)`
  yield* sql`CREATE INDEX acts_kind ON acts (act, settled_at DESC, id DESC)`
  yield* sql`CREATE INDEX acts_spirit ON acts ((record::jsonb ->> 'spirit'), settled_at DESC, id DESC)`
  yield* sql`CREATE INDEX acts_agent_name ON acts (lower(agent_name), settled_at DESC) WHERE agent_name IS NOT NULL`
})

/** The witness chain: its one head, and its stones. */
const witness = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE TABLE witness_head (
      id smallint PRIMARY KEY CHECK (id = 1),
      sequence bigint NOT NULL,
      chain_hash text NOT NULL,
      witnessed_at timestamptz(3) NOT NULL
    )`
  yield* sql`INSERT INTO witness_head VALUES (1, 0, ${"0".repeat(64)}, '1970-01-01T00:00:00Z')`
  yield* sql`
    CREATE TABLE witness_stones (
      sequence bigint PRIMARY KEY,
      id uuid NOT NULL UNIQUE REFERENCES payment_attempts (id),
      commitment text NOT NULL,
      kind text NOT NULL,
      spirit text NOT NULL,
      agent_name text,
      witnessed_at text NOT NULL,
      payer text NOT NULL,
      transaction text NOT NULL,
      previous_hash text NOT NULL,
      chain_hash text NOT NULL,
      hidden text[] NOT NULL DEFAULT '{}'
    )`
  yield* sql`CREATE INDEX witness_stones_commitment ON witness_stones (commitment)`
  yield* sql`CREATE INDEX witness_stones_chain_hash ON witness_stones (chain_hash)`
  yield* sql`CREATE INDEX witness_stones_spirit ON witness_stones (spirit, sequence DESC)`
})

const prayersAndKeepers = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE TABLE prayers (
      id uuid PRIMARY KEY REFERENCES payment_attempts (id),
      spirit text NOT NULL,
      day text NOT NULL,
      agent_name text NOT NULL,
      commitment text NOT NULL,
      offered_at timestamptz(3) NOT NULL,
      hidden text[] NOT NULL DEFAULT '{}',
      UNIQUE (day, spirit)
    )`
  yield* sql`
    CREATE TABLE keepers (
      spirit text PRIMARY KEY,
      id uuid NOT NULL UNIQUE REFERENCES payment_attempts (id),
      keeper text NOT NULL,
      agent_name text,
      reason text,
      kept_at timestamptz(3) NOT NULL,
      hidden text[] NOT NULL DEFAULT '{}'
    )`
})

/** A candle that was paid by card has neither payer nor transaction. */
const candles = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE TABLE candles (
      id uuid PRIMARY KEY REFERENCES payment_attempts (id),
      parent_id uuid REFERENCES candles (id),
      spirit text NOT NULL,
      rung text NOT NULL,
      dedication text,
      agent_name text,
      commitment text,
      payer text,
      transaction text,
      lit_at timestamptz(3) NOT NULL,
      lit_until timestamptz(3) NOT NULL,
      hidden text[] NOT NULL DEFAULT '{}'
    )`
  yield* sql`CREATE INDEX candles_lit ON candles (lit_until) WHERE parent_id IS NULL`
  yield* sql`CREATE INDEX candles_lights ON candles (parent_id, lit_until) WHERE parent_id IS NOT NULL`
})

const collectibles = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE TABLE collectibles (
      element_id text NOT NULL,
      edition integer NOT NULL,
      id uuid NOT NULL UNIQUE REFERENCES payment_attempts (id),
      spirit text,
      keeper text NOT NULL,
      agent_name text,
      reason text,
      collected_at timestamptz(3) NOT NULL,
      hidden text[] NOT NULL DEFAULT '{}',
      PRIMARY KEY (element_id, edition)
    )`
  yield* sql`CREATE INDEX collectibles_newest ON collectibles (collected_at DESC, id DESC)`
  yield* sql`CREATE INDEX collectibles_altar ON collectibles (spirit) WHERE spirit IS NOT NULL`
  yield* sql`
    CREATE TABLE publication_head (
      id smallint PRIMARY KEY CHECK (id = 1),
      sequence bigint NOT NULL,
      chain_hash text NOT NULL
    )`
  yield* sql`INSERT INTO publication_head VALUES (1, 0, ${"0".repeat(64)})`
  yield* sql`
    CREATE TABLE publications (
      sequence bigint PRIMARY KEY,
      type text NOT NULL,
      item_id text NOT NULL,
      manifest_hash text NOT NULL,
      edition integer,
      keeper text,
      transaction text,
      published_at text NOT NULL,
      previous_hash text NOT NULL,
      chain_hash text NOT NULL
    )`
  yield* sql`CREATE UNIQUE INDEX publications_manifest ON publications (item_id, manifest_hash) WHERE type = 'manifest'`
})

/** Opened words of stones, candles and lights. */
const reveals = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql`
    CREATE TABLE reveals (
      id uuid PRIMARY KEY REFERENCES payment_attempts (id),
      salt text NOT NULL,
      text text NOT NULL,
      hidden boolean NOT NULL,
      agent_name text,
      revealed_at timestamptz(3) NOT NULL
    )`,
)

const administration = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE TABLE admin_audit (
      id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
      at timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
      who text NOT NULL,
      what text NOT NULL,
      subject text NOT NULL,
      why text NOT NULL
    )`
  yield* sql`CREATE INDEX admin_audit_at ON admin_audit (at DESC, id DESC)`
})

export default Effect.all([acts, witness, prayersAndKeepers, candles, collectibles, reveals, administration], {
  discard: true,
})
