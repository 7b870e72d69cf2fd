/** A row of the room as statements return it, and whether it is open to the caller. */
import { type Effect, type Redacted, Result } from "effect"
import type { SqlError } from "effect/sql"
import { type RoomConflict, RoomExpired, RoomNotFound, RoomUnauthorized } from "../../schema/room/Errors.ts"
import type { Room } from "../../schema/room/Room.ts"
import type { Exceeded, Left } from "../limits/Policy.ts"

/** Who asks: the presented token and the pseudonym of the address. */
export interface Caller {
  readonly token: Redacted.Redacted<string>
  readonly address: string
}

export type Refusal = RoomNotFound | RoomUnauthorized | RoomExpired | RoomConflict

/** What came of a request that the limits let in, and what is left of them. */
export interface Admitted<A> {
  readonly outcome: Result.Result<A, Refusal>
  readonly left: ReadonlyArray<Left>
}

export type Answer<A> = Effect.Effect<Admitted<A>, Exceeded | SqlError.SqlError>

/** The room beside what else a statement returns; all null when there is none. */
export interface RoomRow {
  readonly id: string | null
  readonly name: string
  readonly created: Date
  readonly expires: Date
  readonly latest: number
  readonly proved: boolean
  readonly expired: boolean
}

type Found<R> = R & { readonly id: string }

export const roomOf = (row: Found<Omit<RoomRow, "proved" | "expired">>): Room => ({
  id: row.id,
  name: row.name,
  createdAt: row.created.toISOString(),
  expiresAt: row.expires.toISOString(),
  latestSequence: row.latest,
})

const isFound = <R extends RoomRow>(row: R): row is Found<R> => row.id !== null

/** The room, if there is one and the token opens it; expiry counts here, whenever it is swept. */
export const opened = <R extends RoomRow>(row: R): Result.Result<Found<R>, Refusal> => {
  if (!isFound(row)) return Result.fail(new RoomNotFound({}))
  if (!row.proved) return Result.fail(new RoomUnauthorized({}))
  return row.expired ? Result.fail(new RoomExpired({})) : Result.succeed(row)
}
