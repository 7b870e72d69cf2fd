/** Rooms and their signals: each call costs at most one statement, limits included, and is decided under locked rows. */
import { randomUUID } from "node:crypto"
import { Context, Effect, Layer, Result, Schedule, Schema, Tuple } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { RoomNotFound } from "../../schema/room/Errors.ts"
import type { MessageBody } from "../../schema/room/Message.ts"
import { lifetimeDays } from "../../schema/room/Limits.ts"
import type { Room } from "../../schema/room/Room.ts"
import { exceeded, type Policy } from "../limits/Policy.ts"
import { RateLimiter } from "../limits/RateLimiter.ts"
import * as Windows from "../limits/Windows.ts"
import { rowsOf } from "../platform/Rows.ts"
import { inBatches, named, prepared, retryConflicts } from "../platform/Sql.ts"
import * as Invites from "./Invites.ts"
import { creations, deletions } from "./Limits.ts"
import * as PostMessage from "./PostMessage.ts"
import * as ReadMessages from "./ReadMessages.ts"
import { type Answer, type Caller, opened, type Refusal, roomColumns, roomOf, Sought } from "./Rows.ts"

const sweepEvery = "1 minute"
const batch = 200

const InsertedRow = Schema.Struct({ ...roomColumns, ...Windows.Counts.fields })

/** `gone` where this very statement deleted it. */
const ErasedRow = Sought.mapMembers(Tuple.map(Schema.fieldsAssign({ ...Windows.Counts.fields, gone: Schema.Boolean })))

export class RoomStore extends Context.Service<
  RoomStore,
  {
    create(name: string, address: string): Answer<{ readonly room: Room; readonly token: string }>
    read(id: string, after: number, caller: Caller): Answer<ReadMessages.NewMessages>
    send(id: string, message: MessageBody, caller: Caller): Answer<PostMessage.PostedMessage>
    remove(id: string, caller: Caller): Answer<void>
    /** Deletes what has expired; returns how many rooms. Runs by itself too. */
    readonly sweep: Effect.Effect<number>
  }
>()("spirit-altar/room/RoomStore") {
  static readonly layer = Layer.effect(
    RoomStore,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const limiter = yield* RateLimiter
      const invites = Invites.make(sql)

      /** A statement behind a limit, written once; no row means that the limit refused. */
      const limited = <Row extends Windows.Counts>(
        policy: Policy,
        row: Schema.Codec<Row, unknown>,
        write: (slot: Statement.Fragment) => Statement.Fragment,
      ) => {
        const gate = limiter.gate(policy, sql`(SELECT ${named("key")}::text AS key, 1 AS n) AS asked`)
        const statement = prepared(sql, write(gate.query))
        const roomsOf = rowsOf("rooms", row)
        return Effect.fnUntraced(
          function* (address: string, values: Readonly<Record<string, unknown>>) {
            const entry = yield* gate.enter([address])
            const [found] = yield* retryConflicts(
              statement({ ...entry.values, key: gate.keyOf(address), blind: invites.blind, ...values }),
            ).pipe(
              Effect.onError(() => entry.release(address)),
              roomsOf,
            )
            if (found === undefined) return yield* exceeded(yield* limiter.look(policy, address), policy)
            return { row: found, remaining: Windows.remainingOf(policy, found) }
          },
          Effect.catchTag("SqlError", Effect.die),
        )
      }

      const columns = sql.literal(
        "rooms.id, name, created_at AS created, expires_at AS expires, latest_sequence AS latest, expires_at",
      )

      const insert = limited(
        creations,
        InsertedRow,
        (slot) => sql`
          WITH slot AS (${slot}), room AS (
            INSERT INTO rooms (id, name, token_digest, created_at, expires_at)
            SELECT ${named("id")}::uuid, ${named("name")}, ${named("digest")}::bytea, start,
              start + interval '${sql.literal(String(lifetimeDays * 24))} hours'
            FROM (SELECT date_trunc('milliseconds', at) AS start FROM slot) AS now
            RETURNING ${columns}
          )
          SELECT * FROM slot, room`,
      )

      const erase = limited(
        deletions,
        ErasedRow,
        (slot) => sql`
          WITH slot AS (${slot}), room AS (
            SELECT ${columns}, ${invites.proved(sql`${named("proof")}::bytea`)} AS proved
            FROM rooms WHERE id = ${named("id")}::uuid
          ), gone AS (
            DELETE FROM rooms USING slot, room
            WHERE rooms.id = room.id AND proved AND room.expires_at > at RETURNING rooms.id
          )
          SELECT slot.*, room.*, expires_at <= at AS expired, EXISTS (SELECT FROM gone) AS gone
          FROM slot LEFT JOIN room ON true`,
      )

      const create = Effect.fn("RoomStore.create")(function* (name: string, address: string) {
        const token = Invites.draw()
        const { remaining, row } = yield* insert(address, { id: randomUUID(), name, digest: Invites.digestOf(token) })
        return { remaining, outcome: Result.succeed({ room: roomOf(row), token }) }
      })

      const remove = Effect.fn("RoomStore.remove")(function* (id: string, caller: Caller) {
        const { remaining, row } = yield* erase(caller.address, { id, proof: invites.proofOf(caller.token) })
        // Found and opened but not deleted: another request was first.
        const outcome = Result.flatMap(opened(row), (): Result.Result<void, Refusal> =>
          row.gone ? Result.void : Result.fail(new RoomNotFound({})),
        )
        return { remaining, outcome }
      })

      const read = yield* ReadMessages.make(sql, limiter, invites)
      const send = yield* PostMessage.make(sql, limiter, invites)

      const sweepOnce = sql`
        DELETE FROM rooms WHERE id IN (
          SELECT id FROM rooms WHERE expires_at <= clock_timestamp()
          ORDER BY expires_at LIMIT ${batch}::int FOR UPDATE SKIP LOCKED)
        RETURNING 1`

      const sweep = inBatches(batch, sweepOnce).pipe(Effect.orDie, Effect.withSpan("RoomStore.sweep"))

      yield* sweep.pipe(
        Effect.catchCause((cause) => Effect.logError("Expired rooms could not be deleted", cause)),
        Effect.repeat(Schedule.spaced(sweepEvery)),
        Effect.forkScoped,
      )

      return RoomStore.of({ create, read, send, remove, sweep })
    }),
  )
}
