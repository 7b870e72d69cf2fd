/** Posts messages. Concurrent posts share one statement. */
import { randomUUID } from "node:crypto"
import { Effect, Result, Schema } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { RoomConflict, RoomNotFound } from "../../schema/room/Errors.ts"
import type { MessageBody } from "../../schema/room/Message.ts"
import type { Room } from "../../schema/room/Room.ts"
import * as Batcher from "../platform/Batcher.ts"
import { exceeded, type Exceeded, type Remaining } from "../limits/Policy.ts"
import * as Windows from "../limits/Windows.ts"
import { rowsOf } from "../platform/Rows.ts"
import { isRefused } from "../platform/Sql.ts"
import { limitedStatement } from "./LimitedStatement.ts"
import * as Invites from "./Invites.ts"
import { LimitFactor, scaledBy } from "../limits/LimitFactor.ts"
import { newMessages, sends } from "./Limits.ts"
import * as PostStatement from "./PostStatement.ts"
import { type LimitedOutcome, type Caller, type RoomClosed, opened, countsOf } from "./Rows.ts"

interface Send {
  readonly id: string
  readonly message: MessageBody
  readonly caller: Caller
}

export interface PostedMessage {
  readonly room: Room
  /** JSON text, the same for a replay as the first time. */
  readonly message: string
  readonly duplicate: boolean
}

/** The JSON around the values of the database: `seq` goes between the two parts, `createdAt` after the second. */
const partsOf = ({ mode, sender, senderKind, text }: MessageBody) => ({
  head: `{"id":"${randomUUID()}","seq":`,
  middle: `,${JSON.stringify({ sender, senderKind, text, mode }).slice(1, -1)},"createdAt":"`,
})

/** Fingerprints that the room stores of a message with a clientId; empty without one. */
const keysOf = ({ clientId, mode, sender, senderKind, text }: MessageBody) =>
  clientId === undefined
    ? { clientKey: "", contentKey: "" }
    : {
        clientKey: Invites.fingerprint(clientId),
        contentKey: Invites.fingerprint(JSON.stringify([sender, senderKind, text, mode])),
      }

const bodiesOf = rowsOf("room_messages", Schema.Struct({ body: Schema.String }))

export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const ofRoom = scaledBy(yield* LimitFactor)(newMessages)
  const {
    peek,
    remainingOf,
    run: post,
  } = yield* limitedStatement(sends, PostStatement.PostRow, PostStatement.admitted, PostStatement.statement(ofRoom))

  const remainingOfRoom = (row: PostStatement.PostRow): ReadonlyArray<Remaining> =>
    row.id === null || !row.proved
      ? []
      : Windows.remainingOf(ofRoom, { used: row.roomUsed, oldest: row.roomOldest, at: row.roomAt })

  /** The original of a replay that was committed after this statement's snapshot. */
  const originalOf = (id: string, place: number | null) =>
    Effect.map(
      bodiesOf(sql`SELECT body FROM room_messages WHERE room_id = ${id}::uuid AND place = ${place}::int`),
      ([found]) => found?.body,
    )

  const run = Effect.fnUntraced(function* (batch: ReadonlyArray<Send>) {
    const addresses = batch.map(({ caller }) => caller.address)
    const keys = batch.map(({ message }) => keysOf(message))
    const parts = batch.map(({ message }) => partsOf(message))
    const rows = yield* post(addresses, {
      ids: batch.map(({ id }) => id),
      proofs: batch.map(({ caller }) => Invites.proofOf(caller.token)),
      clientKeys: keys.map(({ clientKey }) => clientKey),
      contentKeys: keys.map(({ contentKey }) => contentKey),
      heads: parts.map(({ head }) => head),
      middles: parts.map(({ middle }) => middle),
    })
    const byNth = new Map(rows.map((row) => [row.nth, row]))
    return batch.flatMap((_, index) => byNth.get(index + 1) ?? [])
  })

  const ask = yield* Batcher.make({
    keysOf: ({ caller, id }: Send) => [id, ...caller.address.split(".")],
    retriesAlone: isRefused,
    run,
  })

  /** The refusal of a full room or address. Nothing was taken from either, and the longer wait applies. */
  const refusal = (row: PostStatement.PostRow, address: string) =>
    Effect.map(peek(address), (remaining) =>
      row.verdict === "full" ? exceeded([...remaining, ...remainingOfRoom(row)], ofRoom) : exceeded(remaining, sends),
    )

  return Effect.fnUntraced(
    function* (
      id: string,
      message: MessageBody,
      caller: Caller,
    ): Effect.fn.Return<LimitedOutcome<PostedMessage, RoomClosed | RoomConflict>, Exceeded | SqlError.SqlError> {
      const row = yield* ask({ id, message, caller })
      const room = opened(row)
      if (Result.isFailure(room)) return { remaining: [], outcome: Result.fail(room.failure) }
      if (row.verdict === "conflict") return { remaining: [], outcome: Result.fail(new RoomConflict({})) }
      const taken = countsOf(row)
      if (taken === undefined) return yield* yield* refusal(row, caller.address)
      const remaining = [...remainingOf(taken), ...remainingOfRoom(row)]
      const text = row.body ?? (yield* originalOf(id, row.original))
      // The room was deleted concurrently.
      if (text === undefined) return { remaining, outcome: Result.fail(new RoomNotFound({})) }
      return {
        remaining,
        outcome: Result.succeed({ room: room.success, message: text, duplicate: row.verdict === "replay" }),
      }
    },
    Effect.catchTag("SqlError", Effect.die),
  )
})
