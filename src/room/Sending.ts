/** Sends: limits, clientId, sequence, eviction and insert are decided together under the room's lock, in one statement. */
import { randomUUID } from "node:crypto"
import { Effect, Result } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import { RoomConflict, RoomNotFound } from "../../schema/room/Errors.ts"
import type { MessageBody } from "../../schema/room/Message.ts"
import { retained } from "../../schema/room/Room.ts"
import * as Batches from "../platform/Batches.ts"
import { exceeded, type Exceeded, type Left } from "../limits/Policy.ts"
import type { RateLimiter } from "../limits/RateLimiter.ts"
import * as Windows from "../limits/Windows.ts"
import { named, prepared, retryConflicts } from "../platform/Sql.ts"
import * as Invites from "./Invites.ts"
import { newMessages, sends } from "./Limits.ts"
import { type Admitted, type Caller, opened, roomOf, type RoomRow } from "./Rows.ts"

interface Send {
  readonly id: string
  readonly message: MessageBody
  readonly caller: Caller
}

interface SendRow extends RoomRow {
  /** Which of the sends of the statement, from 1. */
  readonly nth: number
  readonly verdict: "unauthorized" | "expired" | "replay" | "conflict" | "full" | "new" | null
  readonly original: number | null
  readonly body: string | null
  /** What the address has left; null when it was refused. */
  readonly used: Windows.Counts["used"] | null
  readonly oldest: Windows.Counts["oldest"]
  readonly at: Date
  /** What the room has left. */
  readonly roomUsed: Windows.Counts["used"]
  readonly roomOldest: Windows.Counts["oldest"]
  readonly roomAt: Date
}

export interface Sent {
  readonly room: ReturnType<typeof roomOf>
  /** JSON text, the same for a replay as the first time. */
  readonly message: string
  readonly duplicate: boolean
}

/** The message around what only the database knows: `seq` between the two parts, `createdAt` after the second. */
const partsOf = ({ mode, sender, senderKind, text }: MessageBody) => ({
  head: `{"id":"${randomUUID()}","seq":`,
  middle: `,${JSON.stringify({ sender, senderKind, text, mode }).slice(1, -1)},"createdAt":"`,
})

/** What the room remembers of a message with a clientId; empty without one. */
const keysOf = ({ clientId, mode, sender, senderKind, text }: MessageBody) =>
  clientId === undefined
    ? { clientKey: "", contentKey: "" }
    : {
        clientKey: Invites.fingerprint(clientId),
        contentKey: Invites.fingerprint(JSON.stringify([sender, senderKind, text, mode])),
      }

const leftOfRoom = (row: SendRow): ReadonlyArray<Left> =>
  row.proved ? Windows.leftOf(newMessages, { used: row.roomUsed, oldest: row.roomOldest, at: row.roomAt }) : []

export const make = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  limiter: RateLimiter["Service"],
  invites: ReturnType<typeof Invites.make>,
) {
  const windows = Windows.inSql(sql)
  const ring = sql.literal(String(retained))
  const gate = limiter.gate(
    sends,
    sql`asked WHERE NOT EXISTS (SELECT FROM verdict WHERE verdict.nth = asked.nth AND verdict = 'full')`,
  )

  /**
   * `room` waits for its rows and then holds the newest version of them; everything later is decided from that, not
   * from the statement's snapshot, which may be older than what was waited for. A message takes the place of the one
   * that is 50 older, which needs no snapshot either. Rooms are locked before addresses, both in order.
   */
  const statement = prepared<SendRow>(
    sql,
    sql`
      WITH asked AS MATERIALIZED (
        SELECT id, proof, key, nullif(client_key, '')::uuid AS client_key, nullif(content_key, '')::uuid AS content_key,
          head, middle, nth
        FROM unnest(${named("ids")}::uuid[], ${named("proofs")}::bytea[], ${named("keys")}::text[],
          ${named("clientKeys")}::text[], ${named("contentKeys")}::text[], ${named("heads")}::text[],
          ${named("middles")}::text[]) WITH ORDINALITY AS a(id, proof, key, client_key, content_key, head, middle, nth)
      ), room AS MATERIALIZED (
        SELECT id, name, token_digest, created_at, expires_at, latest_sequence, sent, client_keys, content_keys
        FROM rooms WHERE id = ANY(${named("ids")}::uuid[]) ORDER BY id FOR UPDATE
      ), placed AS MATERIALIZED (
        SELECT asked.*, name, created_at, expires_at, latest_sequence, sent, content_keys,
          ${invites.proved(sql`asked.proof`)} AS proved, ${sql.literal(windows.at("sent", "clock_timestamp()"))} AS at,
          latest_sequence % ${ring} + 1 AS place,
          CASE WHEN client_key IS NOT NULL THEN array_position(client_keys, client_key) END AS original
        FROM room JOIN asked ON asked.id = room.id
      ), verdict AS MATERIALIZED (
        SELECT placed.*, CASE
          WHEN NOT proved THEN 'unauthorized'
          WHEN expires_at <= at THEN 'expired'
          WHEN content_keys[original] = content_key THEN 'replay'
          WHEN original IS NOT NULL THEN 'conflict'
          WHEN ${windows.isFree(newMessages, "sent", "at")} THEN 'new'
          ELSE 'full' END AS verdict
        FROM placed
      ), slot AS (${gate.query}), head AS (
        UPDATE rooms SET latest_sequence = v.latest_sequence + 1, sent = ${windows.appended(newMessages, "v.sent", "v.at")},
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
      FROM answer LEFT JOIN LATERAL (SELECT ${windows.counts(newMessages, "sent", "sent_at")}) AS room ON true`,
  )

  /** The original of a replay that was committed while this statement waited, and so is not in its snapshot. */
  const originalOf = (id: string, place: number | null) =>
    Effect.map(
      sql<{ readonly body: string }>`
        SELECT body FROM room_messages WHERE room_id = ${id}::uuid AND place = ${place}::int`,
      (rows) => rows[0]?.body ?? null,
    )

  const run = Effect.fnUntraced(function* (batch: ReadonlyArray<Send>) {
    const addresses = batch.map(({ caller }) => caller.address)
    const { release, values } = yield* gate.enter(addresses)
    const keys = batch.map(({ message }) => keysOf(message))
    const parts = batch.map(({ message }) => partsOf(message))
    const rows = yield* retryConflicts(
      statement({
        ...values,
        blind: invites.blind,
        ids: batch.map(({ id }) => id),
        proofs: batch.map(({ caller }) => invites.proofOf(caller.token)),
        keys: addresses.map(gate.keyOf),
        clientKeys: keys.map(({ clientKey }) => clientKey),
        contentKeys: keys.map(({ contentKey }) => contentKey),
        heads: parts.map(({ head }) => head),
        middles: parts.map(({ middle }) => middle),
      }),
    ).pipe(Effect.onError(() => Effect.forEach(addresses, release, { discard: true })))
    for (const { nth, used } of rows) if (used === null) yield* release(addresses[nth - 1] ?? "")
    const byNth = new Map(rows.map((row) => [row.nth, row]))
    return batch.flatMap((_, index) => byNth.get(index + 1) ?? [])
  })

  const ask = yield* Batches.make({ keysOf: ({ caller, id }: Send) => [id, caller.address], run })

  /** The room or the address is full; nothing was taken from either, and the longer wait is the true one. */
  const refusal = (row: SendRow, address: string) =>
    Effect.map(limiter.look(sends, address), (left) =>
      row.verdict === "full" ? exceeded([...left, ...leftOfRoom(row)], newMessages) : exceeded(left, sends),
    )

  return Effect.fn("RoomStore.send")(function* (
    id: string,
    message: MessageBody,
    caller: Caller,
  ): Effect.fn.Return<Admitted<Sent>, Exceeded | SqlError.SqlError> {
    const row = yield* ask({ id, message, caller })
    if (row.used === null) return yield* yield* refusal(row, caller.address)
    const { at, oldest, used } = row
    const left = [...Windows.leftOf(sends, { used, oldest, at }), ...leftOfRoom(row)]
    const room = opened(row)
    if (Result.isFailure(room)) return { left, outcome: Result.fail(room.failure) }
    if (row.verdict === "conflict") return { left, outcome: Result.fail(new RoomConflict({})) }
    const text = row.body ?? (yield* originalOf(id, row.original))
    // Its room was deleted in between.
    if (text === null) return { left, outcome: Result.fail(new RoomNotFound({})) }
    return {
      left,
      outcome: Result.succeed({ room: roomOf(room.success), message: text, duplicate: row.verdict === "replay" }),
    }
  })
})
