/** What an operator does by hand: whether anything is sold, what is hidden, and who did what and why. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * The version before sells while this one pauses. What is hidden is changed in the rows that are shown, so it stays hidden
 * beside that version, and kept answers notice it; `moderation_hidden` holds what they showed.
 */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE TABLE payment_pause (
      id smallint PRIMARY KEY CHECK (id = 1),
      reason text,
      since timestamptz(3)
    )`
  yield* sql`INSERT INTO payment_pause (id) VALUES (1)`
  yield* sql`
    CREATE TABLE moderation_hidden (
      subject uuid NOT NULL,
      field text NOT NULL,
      shown text NOT NULL,
      hidden_at timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
      PRIMARY KEY (subject, field)
    )`
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
  yield* sql`ALTER TABLE witness_reveals ADD COLUMN hidden_by text`
  yield* sql`ALTER TABLE candle_unseals ADD COLUMN hidden_by text`
})
