/** Rate-limit state: times of accepted requests by pseudonym, and the secret that makes the pseudonyms. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  // Unlogged: after a crash every limit starts again.
  yield* sql`
    CREATE UNLOGGED TABLE rate_limits (
      key text PRIMARY KEY,
      hits timestamptz[] NOT NULL,
      idle_from timestamptz NOT NULL
    ) WITH (fillfactor = 50)`
  yield* sql`CREATE INDEX rate_limits_idle ON rate_limits (idle_from)`
  yield* sql`
    CREATE TABLE rate_limit_secret (
      id smallint PRIMARY KEY CHECK (id = 1),
      secret text NOT NULL
    )`
  // The limiter's only clock. Tests replace it by one that they move.
  yield* sql`
    CREATE FUNCTION rate_limit_now() RETURNS timestamptz LANGUAGE sql VOLATILE AS 'SELECT clock_timestamp()'`
  // Takes one request of each key, or none if a key has no room. NULL members are skipped; without keys the result is
  // NULL. `used` are the counts afterwards, `oldest` the hits whose expiry makes room for one more.
  yield* sql`
    CREATE FUNCTION rate_limits_take(keys text[], quotas integer[], seconds integer[],
      OUT taken boolean, OUT used integer[], OUT oldest timestamptz[], OUT at timestamptz)
    LANGUAGE plpgsql STRICT AS $$
    DECLARE
      count integer;
      first timestamptz;
    BEGIN
      taken := true;
      used := array_fill(NULL::integer, ARRAY[cardinality(keys)]);
      oldest := array_fill(NULL::timestamptz, ARRAY[cardinality(keys)]);
      FOR i IN REVERSE cardinality(keys) .. 1 LOOP
        CONTINUE WHEN keys[i] IS NULL;
        -- The clock is read under the row's lock. The row is removed after 24 hours without requests, and that time
        -- moves in steps, so that few updates change the index.
        INSERT INTO rate_limits AS l (key, hits, idle_from)
        VALUES (keys[i], ARRAY[rate_limit_now()],
          date_bin('10 minutes', rate_limit_now(), 'epoch') + interval '24 hours 10 minutes')
        ON CONFLICT (key) DO UPDATE SET idle_from = excluded.idle_from,
          hits = l.hits[1 + width_bucket(rate_limit_now() - make_interval(secs => seconds[i]), l.hits):]
            || greatest(rate_limit_now(), l.hits[cardinality(l.hits)])
        WHERE coalesce(
          l.hits[cardinality(l.hits) - quotas[i] + 1] <= rate_limit_now() - make_interval(secs => seconds[i]), true)
        RETURNING cardinality(hits), hits[1] INTO count, first;
        IF NOT FOUND THEN
          taken := false;
          -- These rows are locked still, so their last hits are those of this request.
          UPDATE rate_limits SET hits = trim_array(hits, 1) WHERE key = ANY(keys[i + 1:]);
          EXIT;
        END IF;
        used[i] := count;
        oldest[i] := first;
      END LOOP;
      at := rate_limit_now();
      IF NOT taken THEN
        SELECT array_agg(left_over.used ORDER BY i), array_agg(left_over.oldest ORDER BY i) INTO used, oldest
        FROM generate_subscripts(keys, 1) AS i
          LEFT JOIN rate_limits AS l ON l.key = keys[i],
          width_bucket(at - make_interval(secs => seconds[i]), coalesce(l.hits, '{}')) AS gone,
          LATERAL (SELECT
            CASE WHEN keys[i] IS NOT NULL THEN coalesce(cardinality(l.hits), 0) - gone END AS used,
            l.hits[1 + greatest(gone, cardinality(l.hits) - quotas[i])] AS oldest) AS left_over;
      END IF;
    END $$`
})
