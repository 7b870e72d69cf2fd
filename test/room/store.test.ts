/** Rooms without HTTP: the messages they keep, what counts against a limit, the statements of a call, and the sweeper's work. */
import { randomUUID } from "node:crypto"
import { assert, layer } from "../lab/It.ts"
import { Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { RateLimiter } from "../../src/limits/RateLimiter.ts"
import * as Ceiling from "../../src/room/Ceiling.ts"
import { RoomStore } from "../../src/room/RoomStore.ts"
import { database, sql } from "../lab/Database.ts"
import { filesIn, textOf } from "../lab/Sources.ts"
import { counting } from "../lab/Statements.ts"
import { valuesOf } from "../lab/Assertions.ts"
import { realClock } from "../lab/TestServices.ts"

const message = { sender: "Wren", senderKind: "person", text: "hello", mode: "calm" } as const

const counted = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.suspend(() => {
    const { context, sent } = counting()
    return Effect.map(Effect.provideContext(effect, context), (value) => [value, sent.statements] as const)
  })

/** Rooms are counted once, by the first that is created. */
const ceiling = { ...Ceiling.defaults, countEvery: 3_600_000 }

const newRoom = Effect.fnUntraced(function* () {
  const rooms = yield* RoomStore
  const [{ value }, forCreate] = yield* counted(rooms.create("Room", randomUUID()))
  const { room, token } = value
  return { id: room.id, caller: { token: Redacted.make(token), address: randomUUID() }, forCreate }
})

const world = Layer.orDie(
  RoomStore.layer(ceiling).pipe(
    Layer.provideMerge(RateLimiter.layer),
    Layer.provideMerge(sql),
    Layer.provide(database),
  ),
)

layer(world, realClock)("a room", (it) => {
  it.effect("costs one statement for each call, beside a count of all rooms", function* () {
    const rooms = yield* RoomStore
    const { forCreate: forFirst } = yield* newRoom()
    assert.strictEqual(forFirst, 2, "one to count the rooms")
    const { caller, forCreate, id } = yield* newRoom()
    const [sent, forSend] = yield* counted(rooms.send(id, { ...message, clientId: "a" }, caller))
    const [replay, forReplay] = yield* counted(rooms.send(id, { ...message, clientId: "a" }, caller))
    const [read, forRead] = yield* counted(rooms.read(id, 0, caller))
    const [gone, forDelete] = yield* counted(rooms.remove(id, caller))
    assert.isFalse(sent.value.duplicate)
    assert.isTrue(replay.value.duplicate)
    assert.strictEqual(read.value.messages, sent.value.message)
    assert.isUndefined(gone.value)
    const texts = filesIn(["src/room"]).map(textOf).join()
    assert.notMatch(texts, /token_digest\)? *=|= *token_digest/u, "SQL compares blinded digests, in constant time")
    assert.deepStrictEqual([forCreate, forSend, forReplay, forRead, forDelete], [1, 1, 1, 1, 1])
  })

  it.effect("keeps the newest 50 messages and their clientIds, and tells a cursor that it missed some", function* () {
    const db = yield* SqlClient.SqlClient
    const rooms = yield* RoomStore
    const { caller, id } = yield* newRoom()
    const send = Effect.fnUntraced(function* (clientId: string, text = "hello") {
      // The limits of address and room are tested elsewhere.
      yield* db`DELETE FROM rate_limits WHERE key = ${`room-messages:${id}`}`
      return (yield* rooms.send(id, { ...message, text, clientId }, { ...caller, address: randomUUID() })).value
    })
    for (let nth = 1; nth <= 53; nth += 1) assert.isFalse((yield* send(`${nth}`)).duplicate)
    assert.isTrue((yield* send("4")).duplicate)
    assert.nestedPropertyVal(yield* Effect.flip(send("53", "else")), "error.code", "CONFLICT")
    const read = (after: number) => Effect.map(rooms.read(id, after, caller), ({ value }) => value)
    const sequences = valuesOf(JSON.parse(`[${(yield* read(0)).messages}]`) as Array<{ seq: number }>, "seq")
    assert.deepStrictEqual(
      sequences,
      Array.from({ length: 50 }, (_, index) => index + 4),
    )
    const truncated = yield* Effect.forEach([0, 1, 2, 3, 53], (after) =>
      Effect.map(read(after), (one) => one.truncated),
    )
    assert.deepStrictEqual(truncated, [false, true, true, false, false])
    // The original is the 51st newest.
    assert.isFalse((yield* send("3", "else")).duplicate)
    const [stored] = yield* db`SELECT cardinality(client_keys) AS keys,
      (SELECT count(*)::int FROM room_messages WHERE room_id = rooms.id) AS messages FROM rooms WHERE id = ${id}::uuid`
    assert.deepStrictEqual(stored, { keys: 50, messages: 50 })
  })

  it.effect("answers polls from distant addresses in one statement, each with its own messages", function* () {
    const rooms = yield* RoomStore
    const { caller, id } = yield* newRoom()
    yield* rooms.send(id, message, caller)
    const afters = [0, 1, 2 ** 31, Number.MAX_SAFE_INTEGER]
    const read = yield* Effect.forEach(
      Array.from({ length: 40 }, (_, index) => afters[index % afters.length] ?? 0),
      (after) =>
        Effect.map(rooms.read(id, after, { ...caller, address: randomUUID() }), ({ value }) => ({
          after,
          isNew: value.messages !== "",
        })),
      { concurrency: "unbounded" },
    )
    for (const { after, isNew } of read) assert.strictEqual(isNew, after === 0)
  })

  it.effect("is swept with its messages once it has expired, in batches, and no other is", function* () {
    const rooms = yield* RoomStore
    const db = yield* SqlClient.SqlClient
    yield* db`DELETE FROM rooms`
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
