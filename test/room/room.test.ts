/**
 * The life of a room as its specification tells it: create, send, replay, conflict, poll, expire, delete; and which calls
 * count. The lab holds the members and forms of every answer to the contract.
 */
import { createHash } from "node:crypto"
import { assert, layer } from "../lab/It.ts"
import { SqlClient } from "effect/sql"
import {
  bearer,
  codeOf,
  from,
  rooms,
  newAddress,
  newRoom,
  poll,
  polled,
  remove,
  sendSignal,
} from "../lab/server/Rooms.ts"
import { ask, post, realClock, TestServer } from "../lab/Fixture.ts"
import { valuesOf } from "../lab/Assertions.ts"

layer(rooms(), realClock)("a room", (it) => {
  it.effect("is created with a default name, a token shown once, and exactly seven days", function* () {
    const { url } = yield* TestServer
    const sql = yield* SqlClient.SqlClient
    const answer = yield* ask(`${url}/api/rooms`, { method: "POST", headers: from(newAddress()) })
    assert.strictEqual(answer.status, 201, answer.text)
    assert.strictEqual(answer.headers.get("cache-control"), "no-store")
    assert.strictEqual(answer.headers.get("x-content-type-options"), "nosniff")
    const body = JSON.parse(answer.text)
    assert.strictEqual(Buffer.from(body.token, "base64url").length, 32)
    assert.strictEqual(body.room.name, "Signal room")
    assert.strictEqual(body.room.latestSequence, 0)
    assert.strictEqual(Date.parse(body.room.expiresAt) - Date.parse(body.room.createdAt), 604_800_000)
    const longest = { name: `  ${"🜁".repeat(60)} ` }
    const named = yield* ask(`${url}/api/rooms`, post(longest, from(newAddress())))
    assert.strictEqual(JSON.parse(named.text).room.name, longest.name.trim())
    const [row] = yield* sql<{
      tokenDigest: Uint8Array
    }>`SELECT token_digest FROM rooms WHERE id = ${body.room.id}::uuid`
    assert.strictEqual(
      Buffer.from(row?.tokenDigest ?? []).toString("hex"),
      createHash("sha256").update(body.token).digest("hex"),
    )
  })

  it.effect("stores a message, which prolongs nothing, and answers it on both send and both poll routes", function* () {
    const { url } = yield* TestServer
    const sql = yield* SqlClient.SqlClient
    const guest = yield* newRoom(url)
    yield* sql`UPDATE rooms SET created_at = created_at - interval '1 day', expires_at = expires_at - interval '1 day'`
    const sent = yield* sendSignal(guest, {
      sender: " Wren ",
      senderKind: "agent",
      text: ' <b>"hé"</b> ',
      mode: "spark",
    })
    assert.strictEqual(sent.status, 201, sent.text)
    const { duplicate, message, room } = JSON.parse(sent.text)
    assert.strictEqual(duplicate, false)
    assert.strictEqual(room.latestSequence, 1)
    assert.isAtLeast(Date.parse(message.createdAt) - Date.parse(room.createdAt), 86_400_000)
    const policy = '"sends";q=20;w=60, "room-messages";q=30;w=60'
    assert.strictEqual(sent.headers.get("ratelimit-policy"), policy)
    assert.deepStrictEqual(
      { ...message, id: "", createdAt: "" },
      { id: "", seq: 1, sender: "Wren", senderKind: "agent", text: '<b>"hé"</b>', mode: "spark", createdAt: "" },
    )
    const alias = yield* ask(
      `${url}/api/rooms/${guest.id}`,
      post({ sender: "a", text: "b", mode: "ping" }, bearer(guest)),
    )
    assert.strictEqual(alias.status, 201)
    const second = JSON.parse(alias.text).message
    assert.strictEqual(second.senderKind, "person")
    assert.notStrictEqual(second.id, message.id)
    const polls = [yield* poll(guest), yield* poll(guest, "/stream"), yield* poll(guest, "/stream?after=0")]
    for (const answer of polls) {
      assert.strictEqual(answer.status, 200, answer.text)
      assert.deepStrictEqual(polled(answer).messages, [message, second])
      assert.deepEqual(polled(answer).room, { ...room, latestSequence: 2 }, "a message prolongs nothing")
      assert.isAtLeast(Date.parse(polled(answer).serverTime), Date.parse(second.createdAt))
      assert.strictEqual(answer.headers.get("ratelimit-policy"), '"reads";q=120;w=60')
    }
    for (const { headers } of [sent, alias, ...polls]) assert.strictEqual(headers.get("cache-control"), "no-store")
    assert.deepStrictEqual(valuesOf(polled(yield* poll(guest, "?after=1")).messages, "seq"), [2])
    assert.deepStrictEqual(polled(yield* poll(guest, "?after=2")).messages, [])
    assert.deepStrictEqual(polled(yield* poll(guest, "?after=9007199254740991")).messages, [])
  })

  it.effect("answers a stored clientId with the original, or 409 for other content", function* () {
    const { url } = yield* TestServer
    const guest = yield* newRoom(url)
    const first = yield* sendSignal(guest, { clientId: "x_1-Z" })
    assert.strictEqual(first.status, 201)
    const again = yield* sendSignal(guest, { clientId: "x_1-Z", senderKind: "person", text: " The build is green. " })
    assert.strictEqual(again.status, 200)
    assert.strictEqual(again.text, first.text.replace('"duplicate":false', '"duplicate":true'))
    for (const change of [{ text: "else" }, { sender: "else" }, { mode: "ping" }, { senderKind: "agent" }]) {
      const conflict = yield* sendSignal(guest, { clientId: "x_1-Z", ...change })
      assert.deepStrictEqual([conflict.status, codeOf(conflict)], [409, "CONFLICT"])
    }
    assert.strictEqual(polled(yield* poll(guest)).room.latestSequence, 1)
  })

  it.effect("ends after seven days, and says so to its token alone", function* () {
    const { url } = yield* TestServer
    const sql = yield* SqlClient.SqlClient
    const guest = yield* newRoom(url)
    yield* sendSignal(guest)
    yield* sql`UPDATE rooms SET expires_at = now() WHERE id = ${guest.id}::uuid`
    for (const answer of [
      yield* poll(guest),
      yield* poll(guest, "/stream"),
      yield* sendSignal(guest),
      yield* remove(guest),
    ]) {
      assert.deepStrictEqual([answer.status, codeOf(answer)], [410, "EXPIRED"])
    }
    const wrong = yield* poll({ ...guest, token: "A".repeat(43) })
    assert.deepStrictEqual([wrong.status, codeOf(wrong)], [401, "UNAUTHORIZED"])
  })

  it.effect("is deleted for every member at once", function* () {
    const { url } = yield* TestServer
    const guest = yield* newRoom(url)
    yield* sendSignal(guest)
    const deleted = yield* remove(guest)
    assert.deepStrictEqual([deleted.status, deleted.text], [200, '{"deleted":true}'])
    assert.strictEqual(deleted.headers.get("cache-control"), "no-store")
    for (const answer of [yield* remove(guest), yield* poll(guest), yield* sendSignal(guest)]) {
      assert.deepStrictEqual([answer.status, codeOf(answer)], [404, "NOT_FOUND"])
    }
  })

  it.effect("counts sends and replays of an address, and no refused one", function* () {
    const { url } = yield* TestServer
    const [guest, other] = [yield* newRoom(url), yield* newRoom(url)]
    const address = newAddress()
    for (const [room, text, status, left] of [
      [guest, "hello", 201, '"sends";r=19, "room-messages";r=29'],
      [guest, "hello", 200, '"sends";r=18'],
      [guest, "another", 409, null],
      [{ ...guest, token: other.token }, "hello", 401, null],
      [{ ...guest, id: crypto.randomUUID() }, "hello", 404, null],
      [other, "hello", 201, '"sends";r=17, "room-messages";r=29'],
    ] as const) {
      const answer = yield* sendSignal(room, { clientId: "again", text }, address)
      assert.strictEqual(answer.status, status, answer.text)
      assert.strictEqual(answer.headers.get("ratelimit")?.replaceAll(/;t=\d+/gu, "") ?? null, left)
    }
  })
})
