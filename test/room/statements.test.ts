/** The database cost of a call: one statement for every admitted request, whichever limiter; and the sweeper's work. */
import { randomUUID } from "node:crypto"
import { Effect, Layer, Redacted, Result } from "effect"
import { SqlClient } from "effect/sql"
import { RateLimiter } from "../../src/limits/RateLimiter.ts"
import * as Ceiling from "../../src/room/Ceiling.ts"
import { RoomStore } from "../../src/room/RoomStore.ts"
import { database, sql } from "../lab/Database.ts"
import { counting } from "../lab/Statements.ts"
import { assert, suite, valuesOf } from "../lab/Suites.ts"

const message = { sender: "Wren", senderKind: "person", text: "hello", mode: "calm" } as const

/** How many statements an effect sends. */
const counted = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.suspend(() => {
    const { context, sent } = counting()
    return Effect.map(Effect.provideContext(effect, context), (value) => [value, sent.statements] as const)
  })

/** Rooms are counted once, by the first that is created. */
const ceiling = { ...Ceiling.defaults, countEvery: 3_600_000 }

/** An address takes 120 reads a minute. */
const reads = 120

const newRoom = Effect.fnUntraced(function* () {
  const rooms = yield* RoomStore
  const [{ outcome }, forCreate] = yield* counted(rooms.create("Room", randomUUID()))
  const { room, token } = Result.getOrThrow(outcome)
  return { id: room.id, caller: { token: Redacted.make(token), address: randomUUID() }, forCreate }
})

const costs = Effect.gen(function* () {
  const rooms = yield* RoomStore
  const { forCreate: forFirst } = yield* newRoom()
  assert.strictEqual(forFirst, 2, "one to count the rooms")
  const { caller, forCreate, id } = yield* newRoom()
  const [sent, forSend] = yield* counted(rooms.send(id, { ...message, clientId: "a" }, caller))
  const [replay, forReplay] = yield* counted(rooms.send(id, { ...message, clientId: "a" }, caller))
  const [read, forRead] = yield* counted(rooms.read(id, 0, caller))
  const [gone, forDelete] = yield* counted(rooms.remove(id, caller))
  assert.isFalse(Result.getOrThrow(sent.outcome).duplicate)
  assert.isTrue(Result.getOrThrow(replay.outcome).duplicate)
  assert.strictEqual(Result.getOrThrow(read.outcome).messages, Result.getOrThrow(sent.outcome).message)
  assert.isTrue(Result.isSuccess(gone.outcome))
  assert.deepStrictEqual([forCreate, forSend, forReplay, forRead, forDelete], [1, 1, 1, 1, 1])
})

/** One asks from the first signal, one from beyond any that a room will have: a small number for one is none for another. */
const apart = Effect.gen(function* () {
  const rooms = yield* RoomStore
  const { caller, id } = yield* newRoom()
  yield* rooms.send(id, message, caller)
  const afters = [0, 1, 2 ** 31, Number.MAX_SAFE_INTEGER]
  const read = yield* Effect.forEach(
    Array.from({ length: 40 }, (_, index) => afters[index % afters.length] ?? 0),
    (after) =>
      Effect.map(rooms.read(id, after, { ...caller, address: randomUUID() }), ({ outcome }) => ({
        after,
        isNew: Result.getOrThrow(outcome).messages !== "",
      })),
    { concurrency: "unbounded" },
  )
  for (const { after, isNew } of read) assert.strictEqual(isNew, after === 0)
})

/** One address with many rooms: its polls share statements, and each counts as if it had come alone. */
const office = Effect.gen(function* () {
  const rooms = yield* RoomStore
  const { caller, id } = yield* newRoom()
  const poll = Effect.result(rooms.read(id, 0, caller))
  const atOnce = (count: number) =>
    Effect.all(
      Array.from({ length: count }, () => poll),
      { concurrency: "unbounded" },
    )
  const [first, statements] = yield* counted(atOnce(30))
  assert.isBelow(statements, 5)
  const left = first.map((one) => Result.getOrThrow(one).remaining[0]?.remaining ?? 0)
  assert.deepStrictEqual(
    left.toSorted((one, other) => other - one),
    Array.from({ length: 30 }, (_, index) => reads - 1 - index),
  )
  const second = yield* atOnce(200)
  assert.strictEqual(second.filter(Result.isSuccess).length, reads - 30)
  // Together they are refused, since the last has no room; each by itself is let in while there is some.
  const other = { ...caller, address: randomUUID() }
  const next = Effect.result(rooms.read(id, 0, other))
  for (let index = 0; index < reads - 3; index++) assert.isTrue(Result.isSuccess(yield* next))
  const last = yield* Effect.all(
    Array.from({ length: 20 }, () => next),
    { concurrency: "unbounded" },
  )
  assert.strictEqual(last.filter(Result.isSuccess).length, 3)
})

const world = Layer.orDie(
  RoomStore.layer(ceiling).pipe(
    Layer.provideMerge(RateLimiter.layer()),
    Layer.provideMerge(sql),
    Layer.provide(database),
  ),
)

suite("under the room's limits,", world, (it) => {
  it("creating, sending, replaying, reading and deleting cost one statement each in a full count", () => costs)
  it("polls from distant addresses share a statement", () => apart)
  it("requests of one address share statements, and are counted one by one", () => office)
})

suite("the sweeper", world, (it) => {
  it("deletes expired rooms with their messages in batches, and nothing else", function* () {
    const rooms = yield* RoomStore
    const db = yield* SqlClient.SqlClient
    const [ended, open] = [yield* newRoom(), yield* newRoom()]
    for (const room of [ended, open]) yield* rooms.send(room.id, message, room.caller)
    yield* db`
          INSERT INTO rooms (id, name, token_digest, created_at, expires_at)
          SELECT gen_random_uuid(), 'old', sha256('old'), now() - interval '8 days', now() - interval '1 day'
          FROM generate_series(1, 450)`
    yield* db`UPDATE rooms SET expires_at = now() WHERE id = ${ended.id}::uuid`
    assert.strictEqual(yield* rooms.sweep, 451)
    const left = yield* db<{ id: string }>`
          SELECT id::text FROM rooms UNION SELECT room_id::text FROM room_messages`
    assert.deepStrictEqual(valuesOf(left, "id"), [open.id])
  })
})
