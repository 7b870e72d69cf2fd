/** Rooms and their signals: each call costs at most one statement, limits included, and is decided under locked rows. */
import { randomUUID } from "node:crypto"
import { Context, Effect, Layer, Result, Schedule, Schema, Tuple } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import * as DatabaseWatch from "../platform/DatabaseWatch.ts"
import type { MessageBody } from "../../schema/room/Message.ts"
import { lifetimeDays } from "../../schema/room/Limits.ts"
import type { Room } from "../../schema/room/Room.ts"
import { Loose, loosened } from "../limits/Loose.ts"
import { exceeded, type Exceeded, type Policy } from "../limits/Policy.ts"
import { RateLimiter } from "../limits/RateLimiter.ts"
import * as Windows from "../limits/Windows.ts"
import { rowsOf } from "../platform/Rows.ts"
import { inBatches, named, prepared, retryConflicts } from "../platform/Sql.ts"
import * as Ceiling from "./Ceiling.ts"
import * as Invites from "./Invites.ts"
import { creations, deletions } from "./Limits.ts"
import * as PostMessage from "./PostMessage.ts"
import * as ReadMessages from "./ReadMessages.ts"
import { type Admitted, type Answer, type Caller, opened, roomColumns, roomOf, Sought, Taken, takenOf } from "./Rows.ts"

const sweepEvery = "1 minute"
const batch = 200

const InsertedRow = Schema.Struct({ ...roomColumns, ...Windows.Counts.fields })

const ErasedRow = Sought.mapMembers(Tuple.map(Schema.fieldsAssign(Taken)))

export class RoomStore extends Context.Service<
  RoomStore,
  {
    create(name: string, address: string): Answer<{ readonly room: Room; readonly token: string }, Ceiling.RoomsFull>
    read(id: string, after: number, caller: Caller): Answer<ReadMessages.NewMessages>
    send(id: string, message: MessageBody, caller: Caller): Answer<PostMessage.PostedMessage>
    remove(id: string, caller: Caller): Answer<void>
    /** Deletes what has expired; returns how many rooms. Runs by itself too. */
    readonly sweep: Effect.Effect<number>
  }
>()("spirit-altar/room/RoomStore") {
  static readonly layer = (ceiling: Ceiling.CeilingConfig = Ceiling.defaults) =>
    Layer.effect(
      RoomStore,
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const limiter = yield* RateLimiter
        const loose = loosened(yield* Loose)
        const invites = Invites.make(sql)
        const withinCeiling = yield* Ceiling.make(sql, ceiling)

        /** A statement behind a limit, written once, which takes a request of the address for each row of `source`. */
        const limited = <Row>(
          policy: Policy,
          row: Schema.Codec<Row, unknown>,
          source: (key: Statement.Fragment) => Statement.Fragment,
          write: (slot: Statement.Fragment) => Statement.Fragment,
        ) => {
          const gate = limiter.gate(policy, source(sql`${named("key")}::text AS key, 1 AS n`))
          const statement = prepared(sql, write(gate.slot))
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
              return { found, release: entry.release(address) }
            },
            Effect.catchTag("SqlError", Effect.die),
          )
        }

        const columns = sql.literal(
          "rooms.id, name, created_at AS created, expires_at AS expires, latest_sequence AS latest",
        )

        const insert = limited(
          creations,
          InsertedRow,
          (key) => sql`(SELECT ${key}) AS asked`,
          (slot) => sql`
          WITH ${slot}, room AS (
            INSERT INTO rooms (id, name, token_digest, created_at, expires_at)
            SELECT ${named("id")}::uuid, ${named("name")}, ${named("digest")}::bytea, start,
              start + interval '${sql.literal(String(lifetimeDays * 24))} hours'
            FROM (SELECT date_trunc('milliseconds', at) AS start FROM slot) AS now
            RETURNING ${columns}
          )
          SELECT * FROM slot, room`,
        )

        const proved = invites.proved(sql`${named("proof")}::bytea`)
        const erase = limited(
          deletions,
          ErasedRow,
          // What the room refuses takes nothing.
          (key) => sql`(SELECT ${key} FROM held WHERE expires_at > clock_timestamp()) AS admitted`,
          // The room is locked before the address is counted: of several who delete it, one finds it. Who has not its token
          // locks nothing.
          (slot) => sql`
          WITH room AS MATERIALIZED (
            SELECT ${columns}, ${proved} AS proved FROM rooms WHERE id = ${named("id")}::uuid
          ), held AS MATERIALIZED (
            SELECT id, expires_at FROM rooms WHERE id = ${named("id")}::uuid AND ${proved} FOR UPDATE
          ), ${slot}, gone AS (
            DELETE FROM rooms USING slot, held WHERE rooms.id = held.id AND held.expires_at > slot.at
          )
          SELECT slot.*, room.*, expires <= coalesce(slot.at, clock_timestamp()) AS expired
          FROM (SELECT 1) AS one LEFT JOIN room ON NOT proved OR EXISTS (SELECT FROM held) LEFT JOIN slot ON true`,
        )

        const create = Effect.fn("RoomStore.create")(
          function* (name: string, address: string) {
            const token = Invites.draw()
            const { found } = yield* insert(address, { id: randomUUID(), name, digest: Invites.digestOf(token) })
            if (found === undefined) return yield* exceeded(yield* limiter.look(creations, address), creations)
            return {
              remaining: Windows.remainingOf(loose(creations), found),
              outcome: Result.succeed({ room: roomOf(found), token }),
            }
          },
          withinCeiling,
          Effect.catchTag("SqlError", Effect.die),
        )

        const remove = Effect.fn("RoomStore.remove")(function* (
          id: string,
          caller: Caller,
        ): Effect.fn.Return<Admitted<void>, Exceeded> {
          const { found, release } = yield* erase(caller.address, { id, proof: invites.proofOf(caller.token) })
          const row = found ?? (yield* Effect.die("a deletion was not answered"))
          const room = opened(row)
          if (Result.isFailure(room)) {
            yield* release
            return { remaining: [], outcome: Result.fail(room.failure) }
          }
          const taken = takenOf(row)
          if (taken === undefined) return yield* exceeded(yield* limiter.look(deletions, caller.address), deletions)
          return { remaining: Windows.remainingOf(loose(deletions), taken), outcome: Result.void }
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
          Effect.catchCause(DatabaseWatch.failed("Expired rooms could not be deleted")),
          Effect.repeat(Schedule.spaced(sweepEvery)),
          Effect.forkScoped,
        )

        return RoomStore.of({ create, read, send, remove, sweep })
      }),
    )
}
