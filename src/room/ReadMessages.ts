/** Polls a room: token, expiry, limit and new messages, in one statement for all concurrent polls. */
import { Effect, Schema, Tuple } from "effect"
import { retained } from "../../schema/room/Limits.ts"
import type { Room } from "../../schema/room/Room.ts"
import * as Batcher from "../platform/Batcher.ts"
import { counting } from "../limits/Limit.ts"
import { bounded, isRefused } from "../platform/Sql.ts"
import * as Invites from "./Invites.ts"
import { reads } from "./Limits.ts"
import { type Admitted, type Caller, LookupRow, opened, prepared } from "./Rows.ts"

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
  Tuple.map(Schema.fieldsAssign({ place: Schema.Int, messages: Schema.NullOr(Schema.String) })),
)

/** Maximum polls of one address in a statement, half of its size, so that others always have room. */
const share = 32

/** Only polls that the room accepts take quota. Addresses are locked in the order of their keys. */
const statement = `
  WITH polls AS MATERIALIZED (
    SELECT place::int AS place, after, keys, id, name, created_at AS created, expires_at AS expires,
      latest_sequence AS latest, sha256(token_digest || $5::bytea) = proof AS proved
    FROM unnest($1::uuid[], $2::float8[], $3::bytea[], $4::text[]) WITH ORDINALITY AS a(sought, after, proof, keys, place)
    LEFT JOIN rooms ON rooms.id = sought
    ORDER BY keys
  )
  SELECT place, id, name, created, expires, latest, proved, taken, used, oldest, at,
    expires <= coalesce(at, clock_timestamp()) AS expired,
    CASE WHEN latest > after AND taken AND expires > at THEN (
      SELECT string_agg(body, ',' ORDER BY sequence) FROM room_messages
      WHERE room_id = polls.id AND sequence > after) END AS messages
  FROM polls CROSS JOIN LATERAL rate_limits_take(
    CASE WHEN proved AND expires > clock_timestamp() THEN keys::text[] END, $6::int[], $7::int[])
  ORDER BY place`

export const make = Effect.gen(function* () {
  const limit = yield* counting(reads)
  const rowsFor = yield* prepared(PollRow, statement)

  const ask = yield* Batcher.make({
    keysOf: ({ caller }: Poll) => [caller.address],
    share,
    retriesAlone: isRefused,
    run: (polls: ReadonlyArray<Poll>) =>
      bounded(
        rowsFor(
          polls.map(({ id }) => id),
          // As text, since the driver derives an array's type from its members, and numbers of different size have
          // different types.
          polls.map(({ after }) => String(after)),
          polls.map(({ caller }) => Invites.proofOf(caller.token)),
          polls.map(({ caller }) => limit.keysOf(caller.address)),
          Invites.blind,
          limit.quotas,
          limit.seconds,
        ),
      ),
  })

  // Untraced, as are sends: a poll is one statement in one request, which has its own span.
  return Effect.fnUntraced(function* (id: string, after: number, caller: Caller) {
    const row = yield* ask({ id, after, caller })
    const room = yield* opened(row)
    const remaining = yield* limit.admit(row)
    if (row.at === null) return yield* Effect.die("a read has no time")
    const value: NewMessages = {
      room,
      messages: row.messages ?? "",
      truncated: after > 0 && after < room.latestSequence - retained,
      serverTime: row.at.toISOString(),
    }
    return { remaining, value } satisfies Admitted<NewMessages>
  })
})
