/**
 * A tour of all tables, and then the tables of payments. No position comes from a SQL sequence.
 *
 * A **purchase** begins with one statement. It inserts a pending `payment_attempts` row, and into `payment_claims` every
 * name that it holds: its authorization, and slots such as a day's prayer. Editions draw a number from `payment_pools`.
 * The row in `payment_payers` serves as the lock of a wallet while its payments in flight are summed. Our relayer stores
 * each transaction in `relayer_broadcasts` before it broadcasts it. The scan copies transfers from the chain to
 * `chain_transfers`, and its progress to `chain_scans`.
 *
 * One transaction ends a purchase. When it settles, the attempt receives its answer, `acts` its public row,
 * `payment_totals` the amount, and one table the record of its kind: `witness_stones`, `prayers`, `keepers`, `candles` or
 * `collectibles`. When it fails, its slots are released and its authorization stays. A final transfer without an act
 * becomes a row of `payment_strays`, which a later migration renames to `unmatched_payments`, and the operator's return of
 * money one of `payment_refunds`. `payment_pause` stops sales.
 *
 * A **stone** takes its number and its previous hash from `witness_head`, which its transaction locks. Later, and apart
 * from the purchase, the log copies new stones from `log_head` on: hashes to `log_tiles`, signed heads to
 * `log_checkpoints`. A reveal adds words and salt to `reveals`.
 * `publications` is a second chain, of the guide's own texts, with `publication_head` as its end. `admin_audit` lists
 * what an operator hid or changed.
 *
 * A **message** locks its row in `rooms`, takes the next sequence there, and overwrites one of 50 places in
 * `room_messages`. `rate_limits` counts requests of each pseudonym, which `rate_limit_secret` derives from addresses.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * `payment` is the signed payment as `Payment.ts` encodes it, without a card's token once the attempt has ended. The
 * columns generated from it are null for a card, except `rail` and `transaction`, which is a card's intent.
 * `authorization_name` is the name of its claim. `doubted_reason` is why an attempt fails, or a settled transfer is lost, if a later inquiry agrees.
 * `answer` has the parts of the first answer with their members in order. `current_transaction` holds the transfer after a reorganisation moved it. `acknowledged_at` is the
 * operator's. `traceparent` is W3C's.
 */
const attempts = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE TABLE payment_attempts (
      id uuid PRIMARY KEY,
      idempotency_key text NOT NULL UNIQUE,
      fingerprint text NOT NULL,
      act text NOT NULL,
      url text NOT NULL,
      input text NOT NULL,
      amount_atomic numeric(78, 0) NOT NULL,
      payment jsonb NOT NULL,
      rail text NOT NULL GENERATED ALWAYS AS (payment ->> 'rail') STORED,
      payer text GENERATED ALWAYS AS (payment #>> '{authorization,from}') STORED,
      authorization_name text GENERATED ALWAYS AS (lower('authorization:' || (payment ->> 'network') || ':' ||
        (payment #>> '{authorization,asset}') || ':' || (payment #>> '{authorization,from}') || ':' ||
        (payment #>> '{authorization,nonce}'))) STORED,
      valid_before bigint GENERATED ALWAYS AS ((payment #>> '{authorization,validBefore}')::bigint) STORED,
      transaction text GENERATED ALWAYS AS (COALESCE(payment ->> 'transaction', payment ->> 'intent')) STORED,
      pool text,
      pool_number integer,
      state text NOT NULL CHECK (state IN ('pending', 'settled', 'failed')),
      reason text,
      doubted_at timestamptz(3),
      doubted_reason text,
      settled_block bigint,
      finality text NOT NULL DEFAULT 'pending',
      current_transaction text,
      acknowledged_at timestamptz(3),
      accepted_at timestamptz(3) NOT NULL,
      ended_at timestamptz(3),
      checks integer NOT NULL DEFAULT 0,
      next_check_at timestamptz(3) NOT NULL,
      answer json,
      payment_response text,
      traceparent text
    )`
  yield* sql`CREATE INDEX payment_attempts_due ON payment_attempts (next_check_at) WHERE state = 'pending'`
  yield* sql`CREATE INDEX payment_attempts_in_flight ON payment_attempts (payer) WHERE state = 'pending'`
  yield* sql`
    CREATE INDEX payment_attempts_unfinal ON payment_attempts (next_check_at)
    WHERE state = 'settled' AND finality = 'pending' AND rail = 'x402'`
  yield* sql`CREATE INDEX payment_attempts_lost ON payment_attempts (id) WHERE finality = 'lost'`
  yield* sql`
    CREATE INDEX payment_attempts_payer ON payment_attempts (payer, ended_at DESC, id DESC)
    WHERE state = 'settled'`
  yield* sql`CREATE INDEX payment_attempts_transaction ON payment_attempts (transaction) WHERE state = 'settled'`
  yield* sql`
    CREATE INDEX payment_attempts_moved ON payment_attempts (current_transaction)
    WHERE current_transaction IS NOT NULL`
})

/** Names and numbers that attempts hold, and sums that are counted when an act settles. */
const claims = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE TABLE payment_claims (
      name text PRIMARY KEY,
      attempt_id uuid REFERENCES payment_attempts (id)
    )`
  yield* sql`CREATE INDEX payment_claims_attempt ON payment_claims (attempt_id)`
  yield* sql`
    CREATE TABLE payment_pools (
      name text PRIMARY KEY,
      drawn integer NOT NULL,
      highest integer NOT NULL,
      released integer[] NOT NULL DEFAULT '{}'
    )`
  yield* sql`CREATE TABLE payment_payers (name text PRIMARY KEY, limited_until timestamptz(3))`
  yield* sql`
    CREATE TABLE payment_totals (
      id smallint PRIMARY KEY CHECK (id = 1),
      settled bigint NOT NULL,
      settled_atomic numeric(78, 0) NOT NULL
    )`
  yield* sql`INSERT INTO payment_totals VALUES (1, 0, 0)`
  // A volatile function sees what was committed while its caller waited for the wallet's lock.
  yield* sql`
    CREATE FUNCTION payment_fits(wallet text, amount numeric, balance numeric, since timestamptz, most integer)
    RETURNS boolean LANGUAGE sql VOLATILE AS $$
      SELECT count(*) < most AND amount + COALESCE(sum(amount_atomic), 0) + (
        SELECT COALESCE(sum(amount_atomic), 0) FROM (
          SELECT amount_atomic FROM payment_attempts
          WHERE payer = wallet AND state = 'settled' AND ended_at > since
          ORDER BY ended_at DESC LIMIT 64
        ) AS settled
      ) <= balance FROM payment_attempts WHERE payer = wallet AND state = 'pending'
    $$`
  yield* sql`
    CREATE TABLE payment_pause (
      id smallint PRIMARY KEY CHECK (id = 1),
      reason text,
      since timestamptz(3)
    )`
  yield* sql`INSERT INTO payment_pause (id) VALUES (1)`
})

/**
 * EIP-3009 transfers to us as one scan of the chain reads them, and how far it has read. `name` is that of the
 * authorization in `payment_claims`. A row is provisional until its block is final, and `is_judged` once it is an act's or
 * an unmatched payment. `recipients` are wallets as a JSON array; `doubted_at` is when a node first had another block at
 * the number of `final_block`.
 */
const chain = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE TABLE chain_transfers (
      name text PRIMARY KEY,
      network text NOT NULL,
      asset text NOT NULL,
      payer text NOT NULL,
      nonce text NOT NULL,
      pay_to text NOT NULL,
      amount_atomic numeric(78, 0) NOT NULL,
      transaction text NOT NULL,
      block bigint NOT NULL,
      block_hash text NOT NULL,
      log_index integer NOT NULL,
      is_final boolean NOT NULL,
      is_judged boolean NOT NULL DEFAULT false
    )`
  yield* sql`CREATE INDEX chain_transfers_block ON chain_transfers (network, asset, block)`
  yield* sql`CREATE INDEX chain_transfers_due ON chain_transfers (block) WHERE is_final AND NOT is_judged`
  yield* sql`
    CREATE TABLE chain_scans (
      network text NOT NULL,
      asset text NOT NULL,
      recipients text NOT NULL,
      final_block bigint NOT NULL,
      final_hash text NOT NULL,
      final_time bigint NOT NULL,
      head_block bigint NOT NULL,
      head_hash text NOT NULL,
      due_at timestamptz NOT NULL DEFAULT now(),
      doubted_at timestamptz,
      PRIMARY KEY (network, asset)
    )`
  yield* sql`
    CREATE TABLE relayer_broadcasts (
      sender text NOT NULL,
      nonce bigint NOT NULL,
      attempt_id uuid UNIQUE REFERENCES payment_attempts (id),
      hash text NOT NULL,
      raw text,
      gas_at_risk bigint NOT NULL DEFAULT 0,
      sent_at timestamptz(3) NOT NULL,
      PRIMARY KEY (sender, nonce)
    )`
  yield* sql`CREATE INDEX relayer_broadcasts_hash ON relayer_broadcasts (hash)`
  yield* sql`CREATE INDEX relayer_broadcasts_raw ON relayer_broadcasts (sender, nonce) WHERE raw IS NOT NULL`
})

/** `attempt` of an unmatched payment holds its authorization; a card's has no network, asset, payer, nonce and end. A refund's `payment` is the claim of the returned payment. `attempt` bought with it, or failed. `shown` is public. */
const unmatched = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE TABLE payment_strays (
      name text PRIMARY KEY,
      network text,
      asset text,
      payer text,
      nonce text,
      amount_atomic numeric(78, 0) NOT NULL,
      valid_before numeric(78, 0),
      transaction text NOT NULL,
      found_at timestamptz(3) NOT NULL,
      pay_to text,
      attempt uuid REFERENCES payment_attempts (id)
    )`
  yield* sql`CREATE INDEX payment_strays_attempt ON payment_strays (attempt) WHERE attempt IS NOT NULL`
  yield* sql`
    CREATE TABLE payment_refunds (
      payment text PRIMARY KEY,
      transaction text NOT NULL UNIQUE,
      attempt uuid UNIQUE REFERENCES payment_attempts (id),
      shown text NOT NULL
    )`
})

export default Effect.all([attempts, claims, chain, unmatched], { discard: true })
