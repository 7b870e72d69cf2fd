/** Rooms and their signals. Each call takes one statement, limits included, under locked rows. */
import type { RoomConflict, RoomsFull } from "../../schema/room/Errors.ts"
import type { MessageBody } from "../../schema/room/Message.ts"
import type { Room } from "../../schema/room/Room.ts"
import { randomUUID } from "node:crypto"
import { Context, Effect, Layer } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { lifetimeDays } from "../../schema/room/Limits.ts"
import { counting, type Exceeded } from "../limits/Limit.ts"
import * as DatabaseWatch from "../platform/DatabaseWatch.ts"
import { inBatches } from "../platform/Sql.ts"
import * as Ceiling from "./Ceiling.ts"
import * as Invites from "./Invites.ts"
import { creations, deletions } from "./Limits.ts"
import * as PostMessage from "./PostMessage.ts"
import * as ReadMessages from "./ReadMessages.ts"
import { type Admitted, type Caller, CreatedRow, LookupRow, opened, prepared, type RoomClosed, roomOf } from "./Rows.ts"

const sweepEvery = "1 minute"
const batch = 200

const columns = "rooms.id, name, created_at AS created, expires_at AS expires, latest_sequence AS latest"

const insertion = `
  WITH slot AS MATERIALIZED (
    SELECT * FROM rate_limits_take($1::text[], $2::int[], $3::int[])
  ), room AS (
    INSERT INTO rooms (id, name, token_digest, created_at, expires_at)
    SELECT $4::uuid, $5, $6::bytea, start, start + interval '${lifetimeDays * 24} hours'
    FROM (SELECT date_trunc('milliseconds', at) AS start FROM slot WHERE taken) AS now
    RETURNING ${columns}
  )
  SELECT * FROM slot LEFT JOIN room ON true`

/**
 * Locks the room before the address is counted, so that only one of several deletions finds it. A caller without its
 * token locks nothing. Only a deletion of an open room takes quota.
 */
const deletion = `
  WITH room AS MATERIALIZED (
    SELECT ${columns}, sha256(token_digest || $6::bytea) = $5::bytea AS proved FROM rooms WHERE id = $4::uuid
  ), held AS MATERIALIZED (
    SELECT id, expires_at FROM rooms WHERE id = $4::uuid AND sha256(token_digest || $6::bytea) = $5::bytea FOR UPDATE
  ), slot AS MATERIALIZED (
    SELECT taking.* FROM held CROSS JOIN LATERAL rate_limits_take(
      CASE WHEN expires_at > clock_timestamp() THEN $1::text[] END, $2::int[], $3::int[]) AS taking
  ), gone AS (
    DELETE FROM rooms USING slot, held WHERE rooms.id = held.id AND slot.taken AND held.expires_at > slot.at
  )
  SELECT slot.*, room.*, expires <= coalesce(slot.at, clock_timestamp()) AS expired
  FROM (SELECT 1) AS base LEFT JOIN room ON NOT proved OR EXISTS (SELECT FROM held) LEFT JOIN slot ON true`

export class RoomStore extends Context.Service<
  RoomStore,
  {
    /** Opens a room for seven days and draws its only token; fails with the limits of the address or of all rooms. */
    readonly create: (
      name: string,
      address: string,
    ) => Effect.Effect<
      Admitted<{ readonly room: Room; readonly token: string }>,
      Exceeded | RoomsFull | SqlError.SqlError
    >
    /** The room and its messages after a number, oldest first; fails as closed to a caller without its token. */
    readonly read: (
      id: string,
      after: number,
      caller: Caller,
    ) => Effect.Effect<Admitted<ReadMessages.NewMessages>, RoomClosed | Exceeded | SqlError.SqlError>
    /** Appends one message, once for each `clientId`; fails as closed, with a conflict, or with a limit. */
    readonly send: (
      id: string,
      message: MessageBody,
      caller: Caller,
    ) => Effect.Effect<Admitted<PostMessage.PostedMessage>, RoomClosed | RoomConflict | Exceeded | SqlError.SqlError>
    /** Deletes the room and everything in it at once. Only a deletion that happens takes quota. */
    readonly remove: (
      id: string,
      caller: Caller,
    ) => Effect.Effect<Admitted<undefined>, RoomClosed | Exceeded | SqlError.SqlError>
    /** Deletes expired rooms and returns their number. Also runs every minute. */
    readonly sweep: Effect.Effect<number, SqlError.SqlError>
  }
>()("spirit-altar/room/RoomStore") {
  static readonly make = Effect.fnUntraced(function* (ceiling: Ceiling.CeilingConfig = Ceiling.defaults) {
    const sql = yield* SqlClient.SqlClient
    const withinCeiling = yield* Ceiling.make(ceiling)
    const created = yield* counting(creations)
    const deleted = yield* counting(deletions)
    const insert = yield* prepared(CreatedRow, insertion)
    const erase = yield* prepared(LookupRow, deletion)

    const create = Effect.fn("RoomStore.create")(function* (name: string, address: string) {
      const token = Invites.draw()
      const [row] = yield* insert(
        created.keysOf(address),
        created.quotas,
        created.seconds,
        randomUUID(),
        name,
        Invites.digestOf(token),
      )
      if (row === undefined) return yield* Effect.die("a creation was not answered")
      const remaining = yield* created.admit(row)
      if (row.id === null) return yield* Effect.die("a creation made no room")
      return { remaining, value: { room: roomOf(row), token } }
    }, withinCeiling)

    const remove = Effect.fn("RoomStore.remove")(function* (id: string, { address, token }: Caller) {
      const [row] = yield* erase(
        deleted.keysOf(address),
        deleted.quotas,
        deleted.seconds,
        id,
        Invites.proofOf(token),
        Invites.blind,
      )
      if (row === undefined) return yield* Effect.die("a deletion was not answered")
      yield* opened(row)
      return { remaining: yield* deleted.admit(row), value: undefined }
    })

    const read = yield* ReadMessages.make
    const send = yield* PostMessage.make

    const sweepOnce = sql`
    DELETE FROM rooms WHERE id IN (
      SELECT id FROM rooms WHERE expires_at <= clock_timestamp()
      ORDER BY expires_at LIMIT ${batch}::int FOR UPDATE SKIP LOCKED)
    RETURNING 1`

    const sweep = inBatches(batch, sweepOnce).pipe(Effect.withSpan("RoomStore.sweep"))

    yield* DatabaseWatch.sweeping(sweep, sweepEvery, "room cleanup failed")

    return { create, read, send, remove, sweep }
  })
  static readonly layer = (ceiling: Ceiling.CeilingConfig = Ceiling.defaults) => Layer.effect(this, this.make(ceiling))
}
