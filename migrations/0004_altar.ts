/** What the other acts record: prayers, keepers, candles, collectibles and their publication chain. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE TABLE prayers (
      id uuid PRIMARY KEY REFERENCES payment_attempts (id),
      spirit text NOT NULL,
      day text NOT NULL,
      agent_name text NOT NULL,
      commitment text NOT NULL,
      offered_at timestamptz(3) NOT NULL,
      UNIQUE (day, spirit)
    )`
  yield* sql`
    CREATE TABLE keepers (
      spirit text PRIMARY KEY,
      id uuid NOT NULL UNIQUE REFERENCES payment_attempts (id),
      keeper text NOT NULL,
      agent_name text,
      reason text,
      kept_at timestamptz(3) NOT NULL
    )`
  yield* sql`
    CREATE TABLE candles (
      id uuid PRIMARY KEY REFERENCES payment_attempts (id),
      parent_id uuid REFERENCES candles (id),
      spirit text NOT NULL,
      rung text NOT NULL,
      dedication text,
      agent_name text,
      commitment text,
      payer text NOT NULL,
      transaction text NOT NULL,
      lit_at timestamptz(3) NOT NULL,
      lit_until timestamptz(3) NOT NULL
    )`
  yield* sql`CREATE INDEX candles_lit ON candles (lit_until) WHERE parent_id IS NULL`
  yield* sql`CREATE INDEX candles_lights ON candles (parent_id, lit_until) WHERE parent_id IS NOT NULL`
  yield* sql`
    CREATE TABLE candle_unseals (
      candle_id uuid PRIMARY KEY REFERENCES candles (id),
      salt text NOT NULL,
      words text NOT NULL,
      hidden boolean NOT NULL,
      unsealed_at timestamptz(3) NOT NULL
    )`
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
