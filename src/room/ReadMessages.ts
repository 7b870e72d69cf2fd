/** Polls: limit, token, expiry and what is new, in one statement for all that wait at the same time. */
import { Effect, Result, Schema, Tuple } from "effect"
import type { SqlClient } from "effect/sql"
import { retained } from "../../schema/room/Limits.ts"
import type { Room } from "../../schema/room/Room.ts"
import * as Batches from "../platform/Batches.ts"
import { exceeded } from "../limits/Policy.ts"
import type { RateLimiter } from "../limits/RateLimiter.ts"
import * as Windows from "../limits/Windows.ts"
import { rowsOf } from "../platform/Rows.ts"
import { bounded, named, prepared, retryConflicts } from "../platform/Sql.ts"
import type * as Invites from "./Invites.ts"
import { reads } from "./Limits.ts"
import { type Caller, opened, Sought } from "./Rows.ts"

/** What is new in a room. */
export interface NewMessages {
  readonly room: Room
  /** JSON text: the members of an array, none where nothing is new. */
  readonly messages: string
  readonly truncated: boolean
  readonly serverTime: string
}

interface Poll {
  readonly id: string
  readonly after: number
  readonly caller: Caller
}

const PollRow = Sought.mapMembers(
  Tuple.map(
    Schema.fieldsAssign({
      ...Windows.Counts.fields,
      /** Which of the polls of the statement, from 1; those without a row were refused. */
      place: Schema.Int,
      messages: Schema.NullOr(Schema.String),
    }),
  ),
)

/** Polls of one address in a statement at most, half of it: however many come from one address, others have room. */
const share = 32

const pollsOf = rowsOf("rooms", PollRow)

export const make = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  limiter: RateLimiter["Service"],
  invites: ReturnType<typeof Invites.make>,
) {
  const gate = limiter.gate(reads, sql`(SELECT key, count(*)::int AS n FROM asked GROUP BY key) AS callers`)

  const statement = prepared(
    sql,
    sql`
      WITH asked AS MATERIALIZED (
        SELECT * FROM unnest(${named("ids")}::uuid[], ${named("afters")}::float8[], ${named("proofs")}::bytea[],
          ${named("keys")}::text[]) WITH ORDINALITY AS a(id, after, proof, key, place)
      ), slot AS (${gate.query})
      SELECT asked.place::int AS place, slot.used, slot.oldest, slot.at, rooms.id, name, created_at AS created,
        expires_at AS expires, latest_sequence AS latest, ${invites.proved(sql`asked.proof`)} AS proved,
        expires_at <= slot.at AS expired,
        CASE WHEN latest_sequence > asked.after AND expires_at > slot.at AND ${invites.proved(sql`asked.proof`)} THEN (
          SELECT string_agg(body, ',' ORDER BY sequence) FROM room_messages
          WHERE room_id = rooms.id AND sequence > asked.after) END AS messages
      FROM asked JOIN slot ON slot.key = asked.key LEFT JOIN rooms ON rooms.id = asked.id`,
  )

  const run = Effect.fnUntraced(function* (polls: ReadonlyArray<Poll>) {
    const addresses = polls.map(({ caller }) => caller.address)
    const { release, values } = yield* gate.enter(addresses)
    const rows = yield* retryConflicts(
      statement({
        ...values,
        blind: invites.blind,
        ids: polls.map(({ id }) => id),
        // As text: the client takes the type of an array from its members, and numbers that differ in size are of two.
        afters: polls.map(({ after }) => String(after)),
        proofs: polls.map(({ caller }) => invites.proofOf(caller.token)),
        keys: addresses.map(gate.keyOf),
      }),
    ).pipe(
      Effect.onError(() => Effect.forEach(addresses, release, { discard: true })),
      pollsOf,
    )
    const byPlace = new Map(rows.map((row) => [row.place, row]))
    const callers = Map.groupBy(addresses, (address) => address)
    const seen = new Map<string, number>()
    return polls.map(({ caller: { address } }, index) => {
      const nth = (seen.get(address) ?? 0) + 1
      seen.set(address, nth)
      const together = callers.get(address)?.length ?? 1
      const row = byPlace.get(index + 1)
      // What was left after a poll is told without those of the same address that came behind it.
      return { row: row && Windows.before(row, together - nth), isAlone: together === 1 }
    })
  })

  const ask = yield* Batches.make({
    keysOf: ({ caller }: Poll) => [caller.address],
    most: share,
    run: (polls) => bounded(run(polls)),
  })

  /** Of one address together, all stand or fall; what falls so is decided by itself, as if it had come alone. */
  const decided = Effect.fnUntraced(function* (poll: Poll) {
    const together = yield* ask(poll)
    if (together.row !== undefined || together.isAlone) return together.row
    const [alone] = yield* bounded(run([poll]))
    return alone?.row
  })

  // Untraced, as are sends: a poll is one statement in one request, which has a span of its own.
  return Effect.fnUntraced(
    function* (id: string, after: number, caller: Caller) {
      const row = yield* decided({ id, after, caller })
      if (row === undefined) return yield* exceeded(yield* limiter.look(reads, caller.address), reads)
      const outcome = Result.map(opened(row), (room) => ({
        room,
        messages: row.messages ?? "",
        truncated: after > 0 && after < room.latestSequence - retained,
        serverTime: row.at.toISOString(),
      }))
      return { remaining: Windows.remainingOf(reads, row), outcome }
    },
    Effect.catchTag("SqlError", Effect.die),
  )
})
