/** Posts messages: limits, clientId, sequence, eviction and insert, in one statement for all concurrent sends. */
import { randomUUID } from "node:crypto"
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { RoomConflict, RoomNotFound } from "../../schema/room/Errors.ts"
import { retained } from "../../schema/room/Limits.ts"
import type { MessageBody } from "../../schema/room/Message.ts"
import type { Room } from "../../schema/room/Room.ts"
import { counting } from "../limits/Limit.ts"
import * as Batcher from "../platform/Batcher.ts"
import { rowsOf } from "../platform/Rows.ts"
import { isRefused } from "../platform/Sql.ts"
import * as Invites from "./Invites.ts"
import { newMessages, sends } from "./Limits.ts"
import { type Admitted, type Caller, LookupRow, opened, prepared } from "./Rows.ts"

interface Send {
  readonly id: string
  readonly message: MessageBody
  readonly caller: Caller
}

export interface PostedMessage {
  readonly room: Room
  /** JSON text, the same for a replay as the first time. */
  readonly message: string
  readonly duplicate: boolean
}

const resultColumns = {
  /** The slot of the message that first used this clientId. */
  original: Schema.NullOr(Schema.Int),
  body: Schema.NullOr(Schema.String),
}
const [absent, present] = LookupRow.members

/** The result of a send: its room and the decision made under its lock. */
const PostRow = Schema.Union([
  absent.pipe(Schema.fieldsAssign({ ...resultColumns, verdict: Schema.Null })),
  present.pipe(
    Schema.fieldsAssign({
      ...resultColumns,
      verdict: Schema.Literals(["unauthorized", "expired", "replay", "conflict", "new"]),
    }),
  ),
])

/** A send opens its room by the room's token. */
const isOpened = `EXISTS (
      SELECT FROM sends WHERE sends.id = rooms.id AND sha256(token_digest || $8::bytea) = sends.proof)`

/** The sends of the batch in order. Keys that are empty are none. */
const sentRows = `
    SELECT id, proof, keys, nullif(client_key, '')::uuid AS client_key, nullif(content_key, '')::uuid AS content_key,
      head, middle, nth
    FROM unnest($1::uuid[], $2::bytea[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[])
      WITH ORDINALITY AS a(id, proof, keys, client_key, content_key, head, middle, nth)`

/**
 * Locks only rooms whose token fits, so a stranger blocks no members. Locking also reads the newest version of a row,
 * which the snapshot may miss.
 */
const held = `
    SELECT rooms.* FROM rooms WHERE id = ANY($1::uuid[]) AND ${isOpened} ORDER BY id FOR UPDATE`

const room = `
    SELECT * FROM held UNION ALL
    SELECT rooms.* FROM rooms WHERE id = ANY($1::uuid[]) AND NOT ${isOpened}`

/** Each send with its room. The 51st message overwrites the first. */
const placed = `
    SELECT sends.*, name, created_at, expires_at, latest_sequence, content_keys,
      sha256(token_digest || $8::bytea) = sends.proof AS proved, clock_timestamp() AS at,
      latest_sequence % ${retained} + 1 AS place,
      CASE WHEN client_key IS NOT NULL THEN array_position(client_keys, client_key) END AS original
    FROM room JOIN sends ON sends.id = room.id`

/** In one order of addresses, so that sends never deadlock. */
const verdict = `
    SELECT placed.*, CASE
      WHEN NOT proved THEN 'unauthorized'
      WHEN expires_at <= at THEN 'expired'
      WHEN content_keys[original] = content_key THEN 'replay'
      WHEN original IS NOT NULL THEN 'conflict'
      ELSE 'new' END AS verdict
    FROM placed
    ORDER BY reverse(keys)`

/** The places that new messages and replays take in the limits. */
const slot = `
    SELECT verdict.nth, taking.* FROM verdict CROSS JOIN LATERAL rate_limits_take(
      CASE verdict
        WHEN 'new' THEN array_append(keys::text[], '${newMessages.name}:' || id)
        WHEN 'replay' THEN array_append(keys::text[], NULL)
      END, $9::int[], $10::int[]) AS taking`

const head = `
    UPDATE rooms SET latest_sequence = new.latest_sequence + 1, client_keys[new.place] = new.client_key,
      content_keys[new.place] = new.content_key
    FROM new WHERE rooms.id = new.id RETURNING rooms.id`

const message = `
    INSERT INTO room_messages (room_id, place, sequence, body)
    SELECT id, place, latest_sequence + 1, head || (latest_sequence + 1) || middle
      || to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') || '"}'
    FROM new
    ON CONFLICT (room_id, place) DO UPDATE SET sequence = excluded.sequence, body = excluded.body
    RETURNING room_id, sequence, body`

/** The body of a message that is sent again, if its slot still holds it. */
const repeated = `
    SELECT m.body FROM room_messages m WHERE m.room_id = v.id AND m.place = v.original
      AND m.sequence = v.latest_sequence - (v.latest_sequence - v.original) % ${retained}`

/** Locks rooms before addresses. */
const statement = `
  WITH sends AS MATERIALIZED (${sentRows}
  ), held AS MATERIALIZED (${held}
  ), room AS MATERIALIZED (${room}
  ), placed AS MATERIALIZED (${placed}
  ), verdict AS MATERIALIZED (${verdict}
  ), slot AS MATERIALIZED (${slot}
  ), new AS MATERIALIZED (
    SELECT verdict.* FROM verdict JOIN slot USING (nth) WHERE verdict = 'new' AND taken
  ), head AS (${head}
  ), message AS (${message}
  )
  SELECT v.id, v.name, v.created_at AS created, v.expires_at AS expires, v.proved, v.verdict, v.original,
    v.verdict = 'expired' AS expired, coalesce(message.sequence, v.latest_sequence) AS latest,
    slot.taken, slot.used, slot.oldest, slot.at,
    coalesce(message.body, CASE WHEN v.verdict = 'replay' THEN (${repeated}
    ) END) AS body
  FROM sends LEFT JOIN verdict v USING (nth) LEFT JOIN slot USING (nth) LEFT JOIN message ON message.room_id = v.id
  ORDER BY sends.nth`

/** The JSON around the values of the database: `seq` goes between the two parts, `createdAt` after the second. */
const partsOf = ({ mode, sender, senderKind, text }: MessageBody) => ({
  head: `{"id":"${randomUUID()}","seq":`,
  middle: `,${JSON.stringify({ sender, senderKind, text, mode }).slice(1, -1)},"createdAt":"`,
})

/** Fingerprints that the room stores of a message with a clientId; empty without one. */
const fingerprintsOf = ({ clientId, mode, sender, senderKind, text }: MessageBody) =>
  clientId === undefined
    ? { clientKey: "", contentKey: "" }
    : {
        clientKey: Invites.fingerprint(clientId),
        contentKey: Invites.fingerprint(JSON.stringify([sender, senderKind, text, mode])),
      }

const bodiesOf = rowsOf("room_messages", Schema.Struct({ body: Schema.String }))

export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const ofAddress = yield* counting(sends)
  const limit = yield* counting([...sends, newMessages])
  const post = yield* prepared(PostRow, statement)

  /** Reads an original that was committed after the statement's snapshot. */
  const originalOf = (id: string, place: number | null) =>
    Effect.map(
      bodiesOf(sql`SELECT body FROM room_messages WHERE room_id = ${id}::uuid AND place = ${place}::int`),
      ([row]) => row?.body,
    )

  const ask = yield* Batcher.make({
    // A statement updates a row once, so a batch has one send for each room and each address.
    keysOf: ({ caller, id }: Send) => [id, caller.address],
    retriesAlone: isRefused,
    run: (batch: ReadonlyArray<Send>) => {
      const fingerprints = batch.map(({ message }) => fingerprintsOf(message))
      const parts = batch.map(({ message }) => partsOf(message))
      return post(
        batch.map(({ id }) => id),
        batch.map(({ caller }) => Invites.proofOf(caller.token)),
        batch.map(({ caller }) => ofAddress.keysOf(caller.address)),
        fingerprints.map(({ clientKey }) => clientKey),
        fingerprints.map(({ contentKey }) => contentKey),
        parts.map(({ head }) => head),
        parts.map(({ middle }) => middle),
        Invites.blind,
        limit.quotas,
        limit.seconds,
      )
    },
  })

  return Effect.fnUntraced(function* (id: string, message: MessageBody, caller: Caller) {
    const row = yield* ask({ id, message, caller })
    const room = yield* opened(row)
    if (row.verdict === "conflict") return yield* new RoomConflict({})
    const remaining = yield* limit.admit(row)
    const text = row.body ?? (yield* originalOf(id, row.original))
    // The room was deleted concurrently.
    if (text === undefined) return yield* new RoomNotFound({})
    const value: PostedMessage = { room, message: text, duplicate: row.verdict === "replay" }
    return { remaining, value } satisfies Admitted<PostedMessage>
  })
})
