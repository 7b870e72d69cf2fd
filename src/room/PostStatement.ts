/** One statement for sends: limits, clientId, sequence, eviction and insert, under the rooms' locks. */
import { Schema } from "effect"
import type { Statement } from "effect/sql"
import { retained } from "../../schema/room/Limits.ts"
import * as Windows from "../limits/Windows.ts"
import { named } from "../platform/Sql.ts"
import { literal, part } from "../platform/SqlPart.ts"
import * as Invites from "./Invites.ts"
import type { Policy } from "../limits/Policy.ts"
import { LookupRow, CountsRow } from "./Rows.ts"

const { at, oldest, used } = Windows.Counts.fields

/** Columns of a send apart from its room. */
const resultColumns = {
  /** Position of the send in the statement, from 1. */
  nth: Schema.Int,
  /** The place of the first message with this clientId. */
  original: Schema.NullOr(Schema.Int),
  body: Schema.NullOr(Schema.String),
  ...CountsRow,
}

const [absent, found] = LookupRow.members

/** The result of a send: its room and the decision made under its lock. */
export const PostRow = Schema.Union([
  absent.pipe(Schema.fieldsAssign({ ...resultColumns, verdict: Schema.Null })),
  found.pipe(
    Schema.fieldsAssign({
      ...resultColumns,
      verdict: Schema.Literals(["unauthorized", "expired", "replay", "conflict", "full", "new"]),
      roomUsed: used,
      roomOldest: oldest,
      roomAt: at,
    }),
  ),
])
export type PostRow = typeof PostRow.Type

const columns = literal(
  "id, name, token_digest, created_at, expires_at, latest_sequence, sent, client_keys, content_keys",
)
/** A caller without a room's token must not lock it and block its members. */
const isOpened = part`EXISTS (SELECT FROM asked WHERE asked.id = rooms.id AND ${Invites.proved(part`asked.proof`)})`
const ring = literal(String(retained))

/** The sends that take quota. */
export const admitted = part`(
  SELECT key, 1 AS n FROM asked
  WHERE EXISTS (SELECT FROM verdict WHERE verdict.nth = asked.nth AND verdict IN ('new', 'replay'))) AS admitted`

/**
 * `held` locks the opened rooms and reads their newest version, since the snapshot may be older than the lock. A
 * message replaces the one 50 before it. Rooms are locked before addresses, both in order.
 */
export const statement = (newMessages: Policy) => (slot: Statement.Fragment) =>
  part`
  WITH asked AS MATERIALIZED (
    SELECT id, proof, key, nullif(client_key, '')::uuid AS client_key, nullif(content_key, '')::uuid AS content_key,
      head, middle, nth
    FROM unnest(${named("ids")}::uuid[], ${named("proofs")}::bytea[], ${named("keys")}::text[],
      ${named("clientKeys")}::text[], ${named("contentKeys")}::text[], ${named("heads")}::text[],
      ${named("middles")}::text[]) WITH ORDINALITY AS a(id, proof, key, client_key, content_key, head, middle, nth)
  ), held AS MATERIALIZED (
    SELECT ${columns} FROM rooms WHERE id = ANY(${named("ids")}::uuid[]) AND ${isOpened} ORDER BY id FOR UPDATE
  ), room AS MATERIALIZED (
    SELECT * FROM held UNION ALL
    SELECT ${columns} FROM rooms WHERE id = ANY(${named("ids")}::uuid[]) AND NOT ${isOpened}
  ), placed AS MATERIALIZED (
    SELECT asked.*, name, created_at, expires_at, latest_sequence, sent, content_keys,
      ${Invites.proved(part`asked.proof`)} AS proved, ${literal(Windows.atInSql("sent", "clock_timestamp()"))} AS at,
      latest_sequence % ${ring} + 1 AS place,
      CASE WHEN client_key IS NOT NULL THEN array_position(client_keys, client_key) END AS original
    FROM room JOIN asked ON asked.id = room.id
  ), verdict AS MATERIALIZED (
    SELECT placed.*, CASE
      WHEN NOT proved THEN 'unauthorized'
      WHEN expires_at <= at THEN 'expired'
      WHEN content_keys[original] = content_key THEN 'replay'
      WHEN original IS NOT NULL THEN 'conflict'
      WHEN ${Windows.isFree(newMessages, "sent", "at")} THEN 'new'
      ELSE 'full' END AS verdict
    FROM placed
  ), ${slot}, head AS (
    UPDATE rooms SET latest_sequence = v.latest_sequence + 1, sent = ${Windows.appended(newMessages, "v.sent", "v.at")},
      client_keys[v.place] = v.client_key, content_keys[v.place] = v.content_key
    FROM verdict v JOIN slot ON slot.key = v.key WHERE rooms.id = v.id AND v.verdict = 'new'
    RETURNING rooms.id, rooms.latest_sequence AS latest, rooms.sent
  ), message AS (
    INSERT INTO room_messages (room_id, place, sequence, body)
    SELECT v.id, v.place, v.latest_sequence + 1, v.head || (v.latest_sequence + 1) || v.middle
      || to_char(v.at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') || '"}'
    FROM verdict v JOIN slot ON slot.key = v.key WHERE v.verdict = 'new'
    ON CONFLICT (room_id, place) DO UPDATE SET sequence = excluded.sequence, body = excluded.body
    RETURNING room_id, body
  ), answer AS (
    SELECT asked.nth::int AS nth, v.id, v.name, v.created_at AS created, v.expires_at AS expires, v.proved,
      v.verdict, v.original, v.verdict = 'expired' AS expired, coalesce(head.latest, v.latest_sequence) AS latest,
      coalesce(head.sent, v.sent) AS sent, v.at AS sent_at, slot.used, slot.oldest, slot.at,
      coalesce(message.body, CASE WHEN v.verdict = 'replay' THEN (
        SELECT m.body FROM room_messages m WHERE m.room_id = v.id AND m.place = v.original
          AND m.sequence = v.latest_sequence - (v.latest_sequence - v.original) % ${ring}
      ) END) AS body
    FROM asked LEFT JOIN verdict v ON v.nth = asked.nth LEFT JOIN slot ON slot.key = asked.key
      LEFT JOIN head ON head.id = v.id LEFT JOIN message ON message.room_id = v.id
  )
  SELECT answer.*, room.used AS "roomUsed", room.oldest AS "roomOldest", room.at AS "roomAt"
  FROM answer LEFT JOIN LATERAL (SELECT ${Windows.counts(newMessages, "sent", "sent_at")}) AS room ON true`
