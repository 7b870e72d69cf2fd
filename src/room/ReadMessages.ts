/** Polls a room: token, expiry, limit and new messages, in one statement for all concurrent polls. */
import { Effect, Result, Schema, Tuple } from "effect"
import type { SqlError, Statement } from "effect/sql"
import { retained } from "../../schema/room/Limits.ts"
import type { Room } from "../../schema/room/Room.ts"
import * as Batcher from "../platform/Batcher.ts"
import type { Exceeded } from "../limits/Policy.ts"
import * as Windows from "../limits/Windows.ts"
import { bounded, isRefused, named } from "../platform/Sql.ts"
import { part } from "../platform/SqlPart.ts"
import { limitedStatement } from "./LimitedStatement.ts"
import * as Invites from "./Invites.ts"
import { reads } from "./Limits.ts"
import { type LimitedOutcome, type Caller, opened, LookupRow, CountsRow, countsOf } from "./Rows.ts"

export interface NewMessages {
  readonly room: Room
  /** JSON text: the members of an array, empty if nothing is new. */
  readonly messages: string
  readonly truncated: boolean
  readonly serverTime: string
}

interface Poll {
  readonly id: string
  readonly after: number
  readonly caller: Caller
}

const PollRow = LookupRow.mapMembers(
  Tuple.map(
    Schema.fieldsAssign({
      ...CountsRow,
      /** Position of the poll in the statement, from 1. */
      place: Schema.Int,
      messages: Schema.NullOr(Schema.String),
    }),
  ),
)

interface Polled {
  readonly row: typeof PollRow.Type
  /** Number of later polls of the same address in the statement, which its remaining quota leaves out. */
  readonly later: number
  /** Whether the statement held no other poll of its address. */
  readonly isAlone: boolean
}

/** Maximum polls of one address in a statement, half of its size, so that others always have room. */
const share = 32

/** Only polls that the room accepts take quota. */
const admitted = part`(
  SELECT key, count(*)::int AS n FROM asked WHERE proved AND expires > now GROUP BY key) AS callers`

const statement = (slot: Statement.Fragment) => part`
  WITH asked AS MATERIALIZED (
    SELECT key, place::int AS place, after, rooms.id, name, created_at AS created, expires_at AS expires,
      latest_sequence AS latest, ${Invites.proved(part`proof`)} AS proved, clock_timestamp() AS now
    FROM unnest(${named("ids")}::uuid[], ${named("afters")}::float8[], ${named("proofs")}::bytea[],
      ${named("keys")}::text[]) WITH ORDINALITY AS a(sought, after, proof, key, place)
    LEFT JOIN rooms ON rooms.id = sought
  ), ${slot}
  SELECT place, slot.used, slot.oldest, slot.at, id, name, created, expires, latest, proved,
    expires <= coalesce(slot.at, now) AS expired,
    CASE WHEN latest > after AND proved AND expires > slot.at THEN (
      SELECT string_agg(body, ',' ORDER BY sequence) FROM room_messages
      WHERE room_id = asked.id AND sequence > after) END AS messages
  FROM asked LEFT JOIN slot ON slot.key = asked.key`

export const make = Effect.gen(function* () {
  const { refuse, remainingOf, run: poll } = yield* limitedStatement(reads, PollRow, admitted, statement)

  const run = Effect.fnUntraced(function* (polls: ReadonlyArray<Poll>) {
    const addresses = polls.map(({ caller }) => caller.address)
    const rows = yield* poll(addresses, {
      ids: polls.map(({ id }) => id),
      // As text, since the driver derives an array's type from its members, and numbers of different size have
      // different types.
      afters: polls.map(({ after }) => String(after)),
      proofs: polls.map(({ caller }) => Invites.proofOf(caller.token)),
    })
    const callers = Map.groupBy(addresses, (address) => address)
    const admitted = new Map<string, number>()
    const answers: Array<Polled> = []
    for (const row of rows.toSorted((one, other) => other.place - one.place)) {
      const address = addresses[row.place - 1] ?? ""
      const later = admitted.get(address) ?? 0
      answers.unshift({ row, later, isAlone: callers.get(address)?.length === 1 })
      if (Result.isSuccess(opened(row))) admitted.set(address, later + 1)
    }
    return answers
  })

  const ask = yield* Batcher.make({
    keysOf: ({ caller }: Poll) => [caller.address],
    share,
    retriesAlone: isRefused,
    run: (polls) => bounded(run(polls)),
  })

  /** Polls of one address in a batch are accepted or rejected together. A rejected one runs again alone. */
  const decided = Effect.fnUntraced(function* (poll: Poll) {
    const together = yield* ask(poll)
    if (together.isAlone || countsOf(together.row) !== undefined || Result.isFailure(opened(together.row)))
      return together
    const [alone] = yield* bounded(run([poll]))
    return alone ?? together
  })

  // Untraced, as are sends: a poll is one statement in one request, which has its own span.
  return Effect.fnUntraced(
    function* (
      id: string,
      after: number,
      caller: Caller,
    ): Effect.fn.Return<LimitedOutcome<NewMessages>, Exceeded | SqlError.SqlError> {
      const { later, row } = yield* decided({ id, after, caller })
      const found = opened(row)
      if (Result.isFailure(found)) return { remaining: [], outcome: Result.fail(found.failure) }
      const taken = countsOf(row)
      if (taken === undefined) return yield* refuse(caller.address)
      const room = found.success
      return {
        remaining: remainingOf(Windows.before(taken, later)),
        outcome: Result.succeed({
          room,
          messages: row.messages ?? "",
          truncated: after > 0 && after < room.latestSequence - retained,
          serverTime: taken.at.toISOString(),
        }),
      }
    },
    Effect.catchTag("SqlError", Effect.die),
  )
})
