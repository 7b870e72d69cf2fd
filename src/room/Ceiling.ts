/** Limits the number of rooms, so that clients with many addresses cannot fill the disk. */
import { Clock, Effect, Schema, Semaphore } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { RoomsFull } from "../../schema/room/Errors.ts"
import { rowsOf } from "../platform/Rows.ts"
import { log } from "../platform/LogMessages.ts"

export interface CeilingConfig {
  /** Maximum number of rooms, including expired ones until they are swept. */
  readonly rooms: number
  /** Maximum age in ms of the count when a room is created. */
  readonly countEvery: number
}

export const defaults: CeilingConfig = { rooms: 20_000, countEvery: 1000 }

/** Seconds within which an expired room is swept, and the maximum `Retry-After`. */
const sweptWithin = 60
const longestWait = 3600

const countsOf = rowsOf("rooms", Schema.Struct({ rooms: Schema.Int, firstEnds: Schema.NullOr(Schema.Date) }))

export const make = Effect.fnUntraced(function* (config: CeilingConfig) {
  const sql = yield* SqlClient.SqlClient
  const maximum = config.rooms
  const turn = yield* Semaphore.make(1)
  let lastCount: { readonly rooms: number; readonly firstEnds: Date | null; readonly at: number } | undefined
  /** Creations that the count may have missed, and those of them in flight. */
  let unseen = 0
  let inFlight = 0
  let wasFull = false

  const count = Effect.gen(function* () {
    const at = yield* Clock.currentTimeMillis
    if (lastCount !== undefined && at - lastCount.at < config.countEvery) return lastCount
    unseen = inFlight
    // Counts no further than the ceiling, even if an earlier, higher ceiling left more rooms.
    const [row] = yield* countsOf(sql`
      SELECT (SELECT count(*)::int FROM (SELECT FROM rooms LIMIT ${maximum}::int) AS counted) AS rooms,
        (SELECT min(expires_at) FROM rooms) AS first_ends`)
    lastCount = { rooms: row?.rooms ?? 0, firstEnds: row?.firstEnds ?? null, at }
    return lastCount
  }).pipe(turn.withPermit, Effect.withSpan("Ceiling.count"))

  const report = (isFull: boolean) => {
    if (isFull === wasFull) return Effect.void
    wasFull = isFull
    return isFull ? log("room limit reached", { maximum }) : log("room limit cleared", { maximum })
  }

  /** Runs a creation if there is room for it. */
  return <A, E, R>(creation: Effect.Effect<A, E, R>): Effect.Effect<A, E | RoomsFull | SqlError.SqlError, R> =>
    Effect.gen(function* () {
      const { at, firstEnds, rooms } = yield* count
      const isFull = rooms + unseen >= maximum
      yield* report(isFull)
      if (isFull) {
        const untilFirst = firstEnds === null ? 0 : Math.ceil((firstEnds.getTime() - at) / 1000)
        return yield* new RoomsFull({ retryAfter: Math.min(longestWait, Math.max(0, untilFirst) + sweptWithin) })
      }
      unseen += 1
      inFlight += 1
      return yield* Effect.onExit(creation, (exit) =>
        Effect.sync(() => {
          inFlight -= 1
          if (exit._tag === "Failure") unseen -= 1
        }),
      )
    })
})
