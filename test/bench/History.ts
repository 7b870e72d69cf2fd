/** The history of an altar that has sold an act every five minutes, made by the database itself, under all its constraints. */
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { spiritIds } from "../../schema/altar/Spirit.ts"
import { genesisHash } from "../../schema/altar/ChainLink.ts"
import { poolOf } from "../../src/altar/collectibles/Collectibles.ts"
import { catalogs } from "../../src/altar/collectibles/Items.ts"
import { slotOf } from "../../src/altar/prayers/Prayers.ts"
import * as Sql from "../../src/platform/Sql.ts"

/** Wallets that pay in turn. */
const wallets = 500

const network = "eip155:84532"
const asset = "0x036CbD53842c5426634e7929541eC2318f3dCF7e"
const payTo = "0x3c44cdddb6a900fa2b585dd299e03d12fa4293bc"

/** The words of every revealed stone. */
const revealed = "It rained."

const items = Object.values(catalogs).flatMap(({ editionSize, entries }) =>
  entries.map(({ id }) => ({ editionSize, id })),
)
const editions = items.reduce((sum, { editionSize }) => sum + editionSize, 0)

/** The id of the nth act or room: in order, which fills an index fastest. */
const idOf = (n: string) => `('00000000-0000-4000-8000-' || lpad(to_hex(${n}), 12, '0'))::uuid`

/** Every hour has a prayer, each with another spirit: 24 a day are all there may be. Then keepers, and editions until they are sold. */
const sortActs = Effect.fnUntraced(function* (acts: number, until: string) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE TEMPORARY TABLE history (
      n int PRIMARY KEY, id uuid, act text, place int, at timestamptz, spirit text, payer text, hash text, transaction text,
      amount numeric, stamp text
    ) ON COMMIT DROP`
  yield* sql`
    WITH timed AS (
      SELECT n, ${sql.literal(idOf("n"))} AS id, encode(sha256(convert_to('act ' || n, 'UTF8')), 'hex') AS hash,
        ${until}::timestamptz - (${acts}::int - n) * interval '5 minutes' AS at
      FROM generate_series(1, ${acts}::int) AS n
    ), slotted AS (
      SELECT *, extract(minute FROM at)::int AS minute,
        row_number() OVER (PARTITION BY extract(minute FROM at) = 0 ORDER BY n) AS rank FROM timed
    ), offered AS (
      SELECT *, CASE WHEN minute = 0 THEN 'offerPrayer' WHEN rank <= ${spiritIds.length}::int THEN 'takeIn'
        WHEN minute % 15 = 5 THEN 'collectMaterial' WHEN minute % 15 = 10 THEN 'light' ELSE 'setWitnessStone' END AS kind
      FROM slotted
    ), sold AS (
      SELECT *, CASE WHEN kind = 'collectMaterial' AND row_number() OVER (PARTITION BY kind ORDER BY n) > ${editions}::int
        THEN 'setWitnessStone' ELSE kind END AS act FROM offered
    ), placed AS (
      SELECT *, row_number() OVER (PARTITION BY act ORDER BY n)::int AS place FROM sold
    ), named AS (
      SELECT *, CASE WHEN act <> 'light' THEN act
          -- What burns now is that of the last day, however long the history is.
          WHEN place % 4 < 2 OR at > ${until}::timestamptz - interval '31 days' THEN 'lightDay'
          WHEN place % 4 = 2 THEN 'lightWeek' ELSE 'lightMonth' END AS name,
        CASE act WHEN 'offerPrayer' THEN extract(hour FROM at AT TIME ZONE 'UTC')::int
          -- The fourth of four is a light on the candle before it.
          WHEN 'light' THEN CASE WHEN place % 4 = 0 THEN place - 1 ELSE place END
          ELSE place END % ${spiritIds.length}::int + 1 AS spirit
      FROM placed
    )
    INSERT INTO history
    SELECT n, id, name, place, at, (${spiritIds}::text[])[spirit],
      '0x' || left(encode(sha256(convert_to('wallet ' || n % ${wallets}::int, 'UTF8')), 'hex'), 40),
      -- One stone in ten is revealed, with its transaction as the salt.
      CASE WHEN name = 'setWitnessStone' AND place % 10 = 0 THEN encode(sha256(
        convert_to('0x' || lpad(to_hex(n), 64, '0'), 'UTF8') || '\\x00'::bytea || convert_to(${revealed}::text, 'UTF8')), 'hex')
      ELSE hash END,
      '0x' || lpad(to_hex(n), 64, '0'),
      CASE name WHEN 'lightDay' THEN 1000000 WHEN 'lightWeek' THEN 3000000 WHEN 'lightMonth' THEN 9000000 ELSE 10000 END,
      to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
    FROM named ORDER BY n`
  yield* sql`ANALYZE history`
})

/** Settled and final, each with what it claims for ever. */
const fillPayments = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    INSERT INTO payment_attempts (id, idempotency_key, fingerprint, act, url, input, network, asset, pay_to, payer, nonce,
      amount_atomic, valid_after, valid_before, signature, payload, from_block, state, transaction, finality, settled_block,
      accepted_at, ended_at, next_check_at)
    SELECT id, 'bench-key-' || lpad(n::text, 9, '0'), hash, act, '', '{}', ${network}, ${asset}, ${payTo}, payer, transaction,
      amount, 0, extract(epoch FROM at)::bigint + 300, '0x', '{}', n, 'settled', transaction, 'final', n, at, at, at
    FROM history`
  yield* sql`
    INSERT INTO payment_claims (name, attempt_id)
    SELECT lower('authorization:' || ${network}::text || ':' || ${asset}::text || ':' || payer || ':' || transaction), id
    FROM history
    UNION ALL
    SELECT replace(replace(${slotOf("<spirit>", "<day>")}::text, '<spirit>', spirit), '<day>', left(stamp, 10)), id
    FROM history WHERE act = 'offerPrayer'
    UNION ALL SELECT 'keeper:' || spirit, id FROM history WHERE act = 'takeIn'
    ORDER BY 1`
  yield* sql`INSERT INTO payment_payers (name) SELECT DISTINCT payer FROM history`
  yield* sql`
    INSERT INTO payment_pools (name, drawn, highest)
    SELECT 'witness:' || left(stamp, 10), count(*), count(*) FROM history WHERE act = 'setWitnessStone' GROUP BY 1`
  yield* sql`
    INSERT INTO acts (id, act, permalink, agent_name, settled_at, receipt, record)
    SELECT id, act, 'http://127.0.0.1/acts/' || id, 'Wren ' || n % ${wallets}::int, at,
      '{"transaction":"' || transaction || ${`","network":"${network}","asset":"${asset}","amountAtomic":"`}::text || amount
        || '","priceUsd":"$' || round(amount / 1000000, 2) || '","payer":"' || payer || ${`","payTo":"${payTo}`}::text
        || '","settledAt":"' || stamp || '","explorerUrl":"https://explorer.example/tx/' || transaction || '"}',
      '{"id":"' || id || '","spirit":"' || spirit || '","commitment":"' || hash || '","payer":"' || payer || '"}'
    FROM history`
  yield* sql`
    UPDATE payment_totals SET settled = (SELECT count(*) FROM history),
      settled_atomic = (SELECT sum(amount) FROM history)`
})

/** Prayers, keepers and candles with their lights. */
const fillAltars = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    INSERT INTO prayers (id, spirit, day, agent_name, commitment, offered_at)
    SELECT id, spirit, left(stamp, 10), 'Wren', hash, at FROM history WHERE act = 'offerPrayer'`
  yield* sql`
    INSERT INTO keepers (spirit, id, keeper, agent_name, kept_at)
    SELECT spirit, id, payer, 'Wren', at FROM history WHERE act = 'takeIn'`
  yield* sql`
    INSERT INTO candles (id, parent_id, spirit, rung, dedication, agent_name, payer, transaction, lit_at, lit_until)
    SELECT id, CASE WHEN place % 4 = 0 THEN lag(id) OVER (ORDER BY place) END, spirit, lower(substr(act, 6)),
      CASE WHEN place % 4 <> 0 THEN 'For the bench' END, 'Wren', payer, transaction, at,
      at + interval '1 day' * CASE act WHEN 'lightDay' THEN 1 WHEN 'lightWeek' THEN 7 ELSE 30 END
    FROM history WHERE act LIKE 'light%' ORDER BY place`
})

/** The chainHash of a link out of the one before and its parts, which are bytes because a text holds no NUL. */
const makeLinked = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql.unsafe(`
    CREATE FUNCTION pg_temp.link(previous text, sequence bigint, parts bytea) RETURNS text LANGUAGE sql IMMUTABLE AS $$
      SELECT encode(sha256(convert_to(previous, 'UTF8') || '\\x00' || convert_to(sequence::text, 'UTF8') || parts), 'hex')
    $$`)
  yield* sql.unsafe(
    `CREATE AGGREGATE pg_temp.linked(bigint, bytea) (SFUNC = pg_temp.link, STYPE = text, INITCOND = '${genesisHash}')`,
  )
})

const parts = (...columns: ReadonlyArray<string>) =>
  columns.map((column) => `'\\x00'::bytea || convert_to(COALESCE(${column}::text, ''), 'UTF8')`).join(" || ")

/** A chain that hashes; one stone in ten was revealed. */
const fillStones = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    INSERT INTO witness_stones (sequence, id, commitment, kind, spirit, agent_name, witnessed_at, payer, transaction,
      previous_hash, chain_hash)
    SELECT place, id, hash, 'intention', spirit, 'Wren', stamp, payer, transaction,
      lag(chain_hash, 1, ${genesisHash}::text) OVER (ORDER BY place), chain_hash
    FROM (
      SELECT *, pg_temp.linked(place, ${sql.literal(parts("hash", "stamp", "transaction"))}) OVER (ORDER BY place) AS chain_hash
      FROM history WHERE act = 'setWitnessStone'
    ) s`
  yield* sql`
    UPDATE witness_head h SET sequence = s.sequence, chain_hash = s.chain_hash, witnessed_at = s.witnessed_at::timestamptz
    FROM (SELECT * FROM witness_stones ORDER BY sequence DESC LIMIT 1) s`
  yield* sql`
    INSERT INTO witness_reveals (stone_id, salt, text, hidden, agent_name, revealed_at)
    SELECT id, transaction, ${revealed}, false, 'Wren', at FROM history WHERE act = 'setWitnessStone' AND place % 10 = 0`
})

/** Editions in turn of all items, each published behind the manifests that the server's start has published. */
const fillEditions = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    INSERT INTO collectibles (element_id, edition, id, spirit, keeper, agent_name, reason, collected_at)
    SELECT e.id, e.edition, h.id, CASE WHEN h.place % 2 = 0 THEN h.spirit END, h.payer, 'Wren', 'For the bench', h.at
    FROM (
      SELECT i.id, edition, row_number() OVER (ORDER BY edition, i.place) AS place
      FROM unnest(${items.map(({ id }) => id)}::text[], ${items.map(({ editionSize }) => editionSize)}::int[])
        WITH ORDINALITY AS i(id, size, place), generate_series(1, i.size) AS edition
    ) e JOIN history h ON h.act = 'collectMaterial' AND h.place = e.place`
  yield* sql`
    INSERT INTO payment_pools (name, drawn, highest)
    SELECT ${poolOf("")}::text || element_id, count(*), count(*) FROM collectibles GROUP BY element_id`
  yield* sql`
    WITH entries AS (
      SELECT sequence, type, item_id, manifest_hash, edition, keeper, transaction, published_at FROM publications
      UNION ALL
      SELECT (SELECT sequence FROM publication_head) + h.place, 'edition', c.element_id, m.manifest_hash, c.edition, h.payer,
        h.transaction, h.stamp
      FROM collectibles c JOIN history h ON h.id = c.id
      JOIN publications m ON m.item_id = c.element_id AND m.type = 'manifest'
    ), links AS (
      SELECT *, pg_temp.linked(sequence, ${sql.literal(
        parts("type", "item_id", "manifest_hash", "edition", "keeper", "transaction", "published_at"),
      )}) OVER (ORDER BY sequence) AS chain_hash FROM entries
    )
    INSERT INTO publications (sequence, type, item_id, manifest_hash, edition, keeper, transaction, published_at,
      previous_hash, chain_hash)
    SELECT * FROM (
      SELECT sequence, type, item_id, manifest_hash, edition, keeper, transaction, published_at,
        lag(chain_hash) OVER (ORDER BY sequence), chain_hash FROM links
    ) l WHERE l.type = 'edition'`
  yield* sql`
    UPDATE publication_head h SET sequence = p.sequence, chain_hash = p.chain_hash
    FROM (SELECT * FROM publications ORDER BY sequence DESC LIMIT 1) p`
})

/** Rooms with one message each, all open to whom the token of this digest was given. */
const fillRooms = Effect.fnUntraced(function* (rooms: number, tokenDigest: Uint8Array) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`INSERT INTO rooms (id, name, token_digest, created_at, expires_at, latest_sequence)
    SELECT ${sql.literal(idOf("n"))}, 'Room', ${tokenDigest}, now(), now() + interval '7 days', 1
    FROM generate_series(1, ${rooms}::int) AS n`
  yield* sql`INSERT INTO room_messages (room_id, place, sequence, body) SELECT id, 1, 1,
    '{"id":"' || id || '","seq":1,"sender":"Wren","senderKind":"person","text":"Green.","mode":"calm","createdAt":"2026-11-21T09:17:02.115Z"}'
    FROM rooms`
})

const tables = [
  "payment_attempts",
  "payment_claims",
  "payment_payers",
  "payment_pools",
  "acts",
  "prayers",
  "keepers",
].concat(["candles", "collectibles", "publications", "witness_stones", "witness_reveals", "rooms", "room_messages"])

/** Places in the middle of a history. */
export interface Middle {
  readonly act: string
  readonly stone: string
  readonly room: string
  /** Sequences of the chains. */
  readonly link: bigint
  readonly publication: bigint
}

/**
 * As many acts as rooms into a database that a server has started on, the last of them at `until`, which is RFC 3339. Burning candles and today's prayers are the same after any number of acts; all else grows as far as the schema lets it.
 */
export const fill = (url: string, acts: number, until: string, tokenDigest: Uint8Array): Promise<Middle> =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const filling = [sortActs(acts, until), fillPayments, fillAltars, makeLinked, fillStones, fillEditions]
    yield* sql.withTransaction(Effect.all([...filling, fillRooms(acts, tokenDigest)], { discard: true }))
    for (const table of tables) yield* sql.unsafe(`VACUUM ANALYZE ${table}`)
    // The filled pages must not be written back while reads are measured; not everybody may ask for that.
    yield* Effect.ignore(sql`CHECKPOINT`)
    const middleId = sql.literal(idOf(String(Math.floor(acts / 2))))
    const [middle] = yield* sql<Middle>`
      SELECT ${middleId} AS act, ${middleId} AS room, s.id AS stone,
        s.sequence AS link, (SELECT sequence / 2 FROM publication_head) AS publication
      FROM witness_head h JOIN witness_stones s ON s.sequence = h.sequence / 2`
    return middle ?? (yield* Effect.die("nothing was filled"))
  }).pipe(Effect.provide(Sql.layer(Redacted.make(url), 1)), Effect.runPromise)
