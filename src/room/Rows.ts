/** Rows of a room as statements return them, and whether the room is open to the caller. */
import { type Redacted, Result, Schema } from "effect"
import { RoomExpired, RoomNotFound, RoomUnauthorized } from "../../schema/room/Errors.ts"
import type { Room } from "../../schema/room/Room.ts"
import type { Remaining } from "../limits/Policy.ts"
import * as Windows from "../limits/Windows.ts"
import { Moment } from "../platform/Rows.ts"

/** The presented token and the pseudonym of the address. */
export interface Caller {
  readonly token: Redacted.Redacted<string>
  readonly address: string
}

/** Why a room is not open to a caller. */
export type RoomClosed = RoomNotFound | RoomUnauthorized | RoomExpired

/** The result of a request within its limits, and the remaining quota, empty if the room refused. */
export interface LimitedOutcome<A, Refusal = RoomClosed> {
  readonly outcome: Result.Result<A, Refusal>
  readonly remaining: ReadonlyArray<Remaining>
}

export const roomColumns = {
  id: Schema.String,
  name: Schema.String,
  created: Moment,
  expires: Moment,
  latest: Schema.Int,
}

type RoomRow = Schema.Struct<typeof roomColumns>["Type"]

/** The row of a lookup: the room's columns, whether the token opens it and whether it has expired; null without one. */
export const LookupRow = Schema.Union([
  Schema.Struct({ id: Schema.Null }),
  Schema.Struct({ ...roomColumns, proved: Schema.Boolean, expired: Schema.Boolean }),
])
type LookupRow = typeof LookupRow.Type

const { at, oldest, used } = Windows.Counts.fields

/** The counts of the address; null if its limit or the room refused, since nothing was taken. */
export const CountsRow = { used: Schema.NullOr(used), oldest: Schema.NullOr(oldest), at: Schema.NullOr(at) }
type Taken = Schema.Struct<typeof CountsRow>["Type"]

export const countsOf = ({ at, oldest, used }: Taken): Windows.Counts | undefined =>
  used === null || oldest === null || at === null ? undefined : { used, oldest, at }

export const roomOf = ({ created, expires, id, latest, name }: RoomRow): Room => ({
  id,
  name,
  createdAt: created,
  expiresAt: expires,
  latestSequence: latest,
})

/** The room, if it exists and the token opens it. Expiry applies even before the room is swept. */
export const opened = (row: LookupRow): Result.Result<Room, RoomClosed> => {
  if (row.id === null) return Result.fail(new RoomNotFound({}))
  if (!row.proved) return Result.fail(new RoomUnauthorized({}))
  return row.expired ? Result.fail(new RoomExpired({})) : Result.succeed(roomOf(row))
}
