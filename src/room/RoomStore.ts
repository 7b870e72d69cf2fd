/** Rooms and their signals. Each call takes one statement, limits included, under locked rows. */
import { randomUUID } from "node:crypto"
import { Context, Effect, Layer, Result, Schema, Tuple } from "effect"
import { SqlClient, type SqlError, type Statement } from "effect/sql"
import * as DatabaseWatch from "../platform/DatabaseWatch.ts"
import { lifetimeDays } from "../../schema/room/Limits.ts"
import type { Exceeded } from "../limits/Policy.ts"
import * as Windows from "../limits/Windows.ts"
import { inBatches, named } from "../platform/Sql.ts"
import { literal, part } from "../platform/SqlPart.ts"
import * as Ceiling from "./Ceiling.ts"
import { callers, limitedStatement } from "./LimitedStatement.ts"
import * as Invites from "./Invites.ts"
import { creations, deletions } from "./Limits.ts"
import * as PostMessage from "./PostMessage.ts"
import * as ReadMessages from "./ReadMessages.ts"
import {
  type LimitedOutcome,
  type Caller,
  opened,
  roomColumns,
  roomOf,
  LookupRow,
  CountsRow,
  countsOf,
} from "./Rows.ts"

const sweepEvery = "1 minute"
const batch = 200

const InsertedRow = Schema.Struct({ ...roomColumns, ...Windows.Counts.fields })

const ErasedRow = LookupRow.mapMembers(Tuple.map(Schema.fieldsAssign(CountsRow)))

const columns = literal("rooms.id, name, created_at AS created, expires_at AS expires, latest_sequence AS latest")

const insertion = (slot: Statement.Fragment) => part`
  WITH ${slot}, room AS (
    INSERT INTO rooms (id, name, token_digest, created_at, expires_at)
    SELECT ${named("id")}::uuid, ${named("name")}, ${named("digest")}::bytea, start,
      start + interval '${literal(String(lifetimeDays * 24))} hours'
    FROM (SELECT date_trunc('milliseconds', at) AS start FROM slot) AS now
    RETURNING ${columns}
  )
  SELECT * FROM slot, room`

const proved = Invites.proved(part`${named("proof")}::bytea`)

/** Only a deletion of an open room takes quota. */
const stillThere = part`(
  SELECT key, 1 AS n FROM held, ${callers} WHERE expires_at > clock_timestamp()) AS admitted`

/**
 * Locks the room before the address is counted, so that only one of several deletions finds it. A caller without its
 * token locks nothing.
 */
const deletion = (slot: Statement.Fragment) => part`
  WITH room AS MATERIALIZED (
    SELECT ${columns}, ${proved} AS proved FROM rooms WHERE id = ${named("id")}::uuid
  ), held AS MATERIALIZED (
    SELECT id, expires_at FROM rooms WHERE id = ${named("id")}::uuid AND ${proved} FOR UPDATE
  ), ${slot}, gone AS (
    DELETE FROM rooms USING slot, held WHERE rooms.id = held.id AND held.expires_at > slot.at
  )
  SELECT slot.*, room.*, expires <= coalesce(slot.at, clock_timestamp()) AS expired
  FROM (SELECT 1) AS one LEFT JOIN room ON NOT proved OR EXISTS (SELECT FROM held) LEFT JOIN slot ON true`

export class RoomStore extends Context.Service<RoomStore>()("spirit-altar/room/RoomStore", {
  make: Effect.fnUntraced(function* (ceiling: Ceiling.CeilingConfig = Ceiling.defaults) {
    const sql = yield* SqlClient.SqlClient
    const withinCeiling = yield* Ceiling.make(ceiling)
    const creating = yield* limitedStatement(
      creations,
      InsertedRow,
      part`(SELECT key, 1 AS n FROM ${callers}) AS asked`,
      insertion,
    )
    const erasing = yield* limitedStatement(deletions, ErasedRow, stillThere, deletion)

    const create = Effect.fn("RoomStore.create")(
      function* (name: string, address: string) {
        const token = Invites.draw()
        const values = { id: randomUUID(), name, digest: Invites.digestOf(token) }
        const [found] = yield* creating.run([address], values)
        if (found === undefined) return yield* creating.refuse(address)
        return {
          remaining: creating.remainingOf(found),
          outcome: Result.succeed({ room: roomOf(found), token }),
        }
      },
      withinCeiling,
      Effect.catchTag("SqlError", Effect.die),
    )

    const remove = Effect.fn("RoomStore.remove")(
      function* (
        id: string,
        { address, token }: Caller,
      ): Effect.fn.Return<LimitedOutcome<void>, Exceeded | SqlError.SqlError> {
        const rows = yield* erasing.run([address], { id, proof: Invites.proofOf(token) })
        const row = rows[0] ?? (yield* Effect.die("a deletion was not answered"))
        const room = opened(row)
        if (Result.isFailure(room)) return { remaining: [], outcome: Result.fail(room.failure) }
        const taken = countsOf(row)
        if (taken === undefined) return yield* erasing.refuse(address)
        return { remaining: erasing.remainingOf(taken), outcome: Result.void }
      },
      Effect.catchTag("SqlError", Effect.die),
    )

    const read = yield* ReadMessages.make
    const send = yield* PostMessage.make

    const sweepOnce = sql`
    DELETE FROM rooms WHERE id IN (
      SELECT id FROM rooms WHERE expires_at <= clock_timestamp()
      ORDER BY expires_at LIMIT ${batch}::int FOR UPDATE SKIP LOCKED)
    RETURNING 1`

    /** Deletes expired rooms and returns their number. Also runs periodically. */
    const sweep = inBatches(batch, sweepOnce).pipe(Effect.orDie, Effect.withSpan("RoomStore.sweep"))

    yield* DatabaseWatch.sweeping(sweep, sweepEvery, "room cleanup failed")

    return { create, read, send, remove, sweep }
  }),
}) {
  static readonly layer = (ceiling: Ceiling.CeilingConfig = Ceiling.defaults) => Layer.effect(this, this.make(ceiling))
}
