/** Rows of a room as statements return them, and whether the room is open to the caller. */
import { Effect, type Redacted, Schema } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { RoomExpired, RoomNotFound, RoomUnauthorized } from "../../schema/room/Errors.ts"
import type { Room } from "../../schema/room/Room.ts"
import { Counts, type Remaining } from "../limits/Limit.ts"
import { Moment, rowsOf } from "../platform/Rows.ts"
import { retryConflicts } from "../platform/Sql.ts"

/** The presented token and the pseudonym of the address. */
export interface Caller {
  readonly token: Redacted.Redacted<string>
  readonly address: string
}

/** Why a room is not open to a caller. */
export type RoomClosed = RoomNotFound | RoomUnauthorized | RoomExpired

/** The answer to an accepted request, and its remaining quota. */
export interface Admitted<A> {
  readonly value: A
  readonly remaining: ReadonlyArray<Remaining>
}

const columns = {
  id: Schema.String,
  name: Schema.String,
  created: Moment,
  expires: Moment,
  latest: Schema.Int,
}

const NoRoom = Schema.Struct({ id: Schema.Null, ...Counts.fields })
const RoomRow = Schema.Struct({ ...columns, ...Counts.fields })

/** The new room; none if the limit refused it. */
export const CreatedRow = Schema.Union([NoRoom, RoomRow])

/** The room, whether the token opens it and whether it has expired; none if there is no such room. */
export const LookupRow = Schema.Union([
  NoRoom,
  RoomRow.pipe(Schema.fieldsAssign({ proved: Schema.Boolean, expired: Schema.Boolean })),
])
type LookupRow = typeof LookupRow.Type

export const roomOf = ({ created, expires, id, latest, name }: Schema.Struct<typeof columns>["Type"]): Room => ({
  id,
  name,
  createdAt: created,
  expiresAt: expires,
  latestSequence: latest,
})

/** The room, if it exists and the token opens it. Expiry applies even before the room is swept. */
export const opened = (row: LookupRow): Effect.Effect<Room, RoomClosed> => {
  if (row.id === null) return Effect.fail(new RoomNotFound({}))
  if (!row.proved) return Effect.fail(new RoomUnauthorized({}))
  return row.expired ? Effect.fail(new RoomExpired({})) : Effect.succeed(roomOf(row))
}

/** A statement by its text, which is written once: composing a long one costs as much as running it. */
export const prepared = <Row>(row: Schema.Codec<Row, unknown>, text: string) =>
  Effect.map(SqlClient.SqlClient, (sql) => {
    const decode = rowsOf("rooms", row)
    return (...parameters: ReadonlyArray<unknown>): Effect.Effect<ReadonlyArray<Row>, SqlError.SqlError> =>
      decode(retryConflicts(sql.unsafe(text, [...parameters]).withoutTransform))
  })
