/** Every refusal of the signal room: which condition yields which status, code and headers. */
import { until } from "../lab/Eventually.ts"
import { assert, layer } from "../lab/It.ts"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { openConnection } from "../lab/Connection.ts"
import { bearer, codeOf, from, rooms, newAddress, newRoom, poll, polled, sendSignal } from "../lab/server/Rooms.ts"
import { type Answer, ask, post, realClock, TestServer } from "../lab/Fixture.ts"

const message = { sender: "Wren", text: "hello", mode: "calm" }
const unknown = "5f1b7c0e-3d2a-4f6b-8c9d-1e2f3a4b5c6d"

const assertRefused = (answer: Answer, status: number, code: string, what?: string) => {
  assert.deepStrictEqual([answer.status, codeOf(answer)], [status, code], what)
  assert.strictEqual(answer.headers.get("cache-control"), "no-store", what)
}

const create = (url: string, body: unknown) => ask(`${url}/api/rooms`, post(body, from(newAddress())))

const raw = (url: string, bytes: string) =>
  Effect.scoped(Effect.flatMap(openConnection(Number(new URL(url).port)), ({ ask }) => ask(bytes)))

layer(rooms(), realClock)("the room answers", (it) => {
  it.effect("401 to every token but this room's, and 404 to every id without a room", function* () {
    const { url } = yield* TestServer
    const guest = yield* newRoom(url)
    const other = yield* newRoom(url)
    const room = `${url}/api/rooms/${guest.id}`
    for (const authorization of [
      undefined,
      "",
      "Bearer",
      `Basic ${guest.token}`,
      `Bearer ${guest.token}=`,
      `Bearer ${guest.token.slice(1)}`,
      `Bearer ${guest.token} x`,
      `Bearer ${other.token}`,
    ]) {
      const headers = { ...from(newAddress()), ...(authorization === undefined ? {} : { authorization }) }
      for (const answer of [
        yield* ask(room, { headers }),
        yield* ask(`${room}/stream`, { headers }),
        yield* ask(`${room}/messages`, post(message, headers)),
        yield* ask(room, { method: "DELETE", headers }),
      ]) {
        assertRefused(answer, 401, "UNAUTHORIZED", authorization)
      }
    }
    assert.strictEqual((yield* ask(room, { headers: { authorization: `bearer ${guest.token}` } })).status, 200)
    for (const id of [unknown, guest.id.toUpperCase(), `${guest.id}0`, "x", guest.id.replace(/-4/u, "-1")]) {
      assertRefused(yield* poll({ ...guest, id }), 404, "NOT_FOUND", id)
      assertRefused(yield* sendSignal({ ...guest, id }), 404, "NOT_FOUND", id)
    }
  })

  it.effect("404 to other paths, also raw ones, and 405 with Allow to other methods", function* () {
    const { url } = yield* TestServer
    const sql = yield* SqlClient.SqlClient
    const guest = yield* newRoom(url)
    const headers = bearer(guest)
    for (const path of ["rooms/", "rooms/x/", `rooms/${guest.id}/nothing`, "rooms/x/messages/1", "health/", "health/x"])
      assertRefused(yield* ask(`${url}/api/${path}`, { headers }), 404, "NOT_FOUND", path)
    for (const [method, path, allow] of [
      ["GET", "rooms", "POST"],
      ["DELETE", "rooms", "POST"],
      ["OPTIONS", "rooms", "POST"],
      ["PUT", `rooms/${guest.id}`, "DELETE, GET, HEAD, POST"],
      ["OPTIONS", `rooms/${guest.id}`, "DELETE, GET, HEAD, POST"],
      ["GET", `rooms/${guest.id}/messages`, "POST"],
      ["POST", `rooms/${guest.id}/stream`, "GET, HEAD"],
      ["POST", "health", "GET, HEAD"],
      ["OPTIONS", "health", "GET, HEAD"],
    ] as const) {
      const answer = yield* ask(`${url}/api/${path}`, { method, headers })
      assertRefused(answer, 405, "METHOD_NOT_ALLOWED", `${method} ${path}`)
      assert.strictEqual(answer.headers.get("allow"), allow)
    }
    const head = yield* ask(`${url}/api/rooms/${guest.id}`, { method: "HEAD", headers })
    assert.deepStrictEqual([head.status, head.text], [200, ""])

    const count = sql`SELECT count(*) FROM rooms`
    const before = yield* count
    for (const path of ["rooms;x", "rooms;", "rooms#x", "%72ooms", "rooms;x?y"]) {
      const lines = [`POST /api/${path} HTTP/1.1`, `host: ${new URL(url).host}`, "origin: https://evil.example"]
      const answer = yield* raw(url, `${lines.join("\r\n")}\r\ncontent-length: 16\r\n\r\n{"name":"Stolen"}`)
      assert.match(answer, /^HTTP\/1\.1 404 .*\r\ncache-control: no-store\r\n.*"code":"NOT_FOUND"/isu, path)
      assert.notMatch(answer, /access-control-allow-origin/iu, path)
    }
    assert.deepStrictEqual(yield* count, before)
  })

  it.effect("403 to every foreign origin, and grants none", function* () {
    const { url } = yield* TestServer
    const guest = yield* newRoom(url)
    const room = `${url}/api/rooms/${guest.id}`
    const grants = (answer: Answer) => [...answer.headers.keys()].filter((name) => name.startsWith("access-control-"))
    for (const origin of [
      "https://evil.example",
      "null",
      `${url}.evil.example`,
      url.replace("http:", "https:"),
      `${url}0`,
      "",
    ]) {
      const headers = { ...bearer(guest), origin }
      for (const answer of [
        yield* ask(room, { headers }),
        yield* ask(`${room}/messages`, post(message, headers)),
        yield* ask(room, { method: "DELETE", headers }),
        yield* ask(`${url}/api/rooms`, { method: "POST", headers }),
        yield* ask(room, { method: "OPTIONS", headers: { origin, "access-control-request-method": "POST" } }),
        yield* ask(`${url}/api/rooms/nothing/at/all`, { headers }),
        yield* ask(`${url}/api/health`, { headers }),
      ]) {
        assertRefused(answer, 403, "FORBIDDEN", origin)
        assert.deepStrictEqual(grants(answer), [], origin)
      }
    }
    const own = yield* ask(room, { headers: { ...bearer(guest), origin: url } })
    assert.deepStrictEqual([own.status, grants(own)], [200, []])
  })

  it.effect("400 to every undocumented form, and stores nothing", function* () {
    const { url } = yield* TestServer
    const guest = yield* newRoom(url)
    const room = `${url}/api/rooms/${guest.id}`
    const bodies: ReadonlyArray<unknown> = [
      "",
      "{",
      "null",
      "[]",
      '"text"',
      {},
      { ...message, text: undefined },
      { ...message, mode: "loud" },
      { ...message, mode: undefined },
      { ...message, senderKind: "robot" },
      { ...message, senderKind: null },
      { ...message, text: 1 },
      { ...message, clientId: "" },
      { ...message, clientId: "a".repeat(65) },
      { ...message, clientId: "a b" },
      { ...message, clientId: "é" },
      { ...message, seq: 1 },
      `{"__proto__": {}, ${JSON.stringify(message).slice(1)}`,
    ]
    const refused: ReadonlyArray<readonly [string, RequestInit]> = [
      ...bodies.map((body) => [`${room}/messages`, post(body, bearer(guest))] as const),
      ...["text/plain", "application/x-www-form-urlencoded", "application/jsonx"].map(
        (type) => [`${room}/messages`, post(message, { ...bearer(guest), "content-type": type })] as const,
      ),
      [
        `${room}/messages`,
        { ...post("", bearer(guest)), body: Buffer.from(JSON.stringify({ ...message, text: "é" }), "latin1") },
      ],
      [`${room}/messages?token=${guest.token}`, post(message, bearer(guest))],
      ...["after=-1", "after=1.5", "after=x", "after=", "after=9007199254740992", "after=1&after=2", "token=x"].map(
        (query) => [`${room}?${query}`, { headers: bearer(guest) }] as const,
      ),
      [`${url}/api/health?token=x`, {}],
      ...[{ name: "🜁".repeat(61) }, { name: " " }, { name: "a\nb" }, { name: 1 }, { nom: "x" }, [], null].map(
        (body) => [`${url}/api/rooms`, post(body, from(newAddress()))] as const,
      ),
    ]
    for (const [at, init] of refused) assertRefused(yield* ask(at, init), 400, "BAD_REQUEST", `${at} ${init.body}`)
    assert.strictEqual(polled(yield* poll(guest)).room.latestSequence, 0)
  })

  it.effect("413 to a body of more than 4096 bytes, however it is announced", function* () {
    const { url } = yield* TestServer
    const guest = yield* newRoom(url)
    const path = `/api/rooms/${guest.id}/messages`
    const exact = (bytes: number) => JSON.stringify(message).padEnd(bytes, " ")
    const accepted = yield* ask(`${url}${path}`, post(exact(4096), bearer(guest)))
    assert.strictEqual(accepted.status, 201, accepted.text)
    assertRefused(yield* ask(`${url}${path}`, post(exact(4097), bearer(guest))), 413, "TOO_LARGE")
    // 1400 characters, but 4200 bytes.
    const wide = post({ ...message, text: "€".repeat(1400) }, bearer(guest))
    assertRefused(yield* ask(`${url}${path}`, wide), 413, "TOO_LARGE")
    assertRefused(yield* create(url, exact(4097)), 413, "TOO_LARGE")
    const head = `POST ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${guest.token}\r\nContent-Type: application/json\r\n`
    // Chunked and never finished: refused as soon as it is too long.
    const chunks = `400\r\n${" ".repeat(1024)}\r\n`.repeat(5)
    assert.match(yield* raw(url, `${head}Transfer-Encoding: chunked\r\n\r\n${chunks}`), /^HTTP\/1\.1 413 .*TOO_LARGE/su)
    // Announced as endless and not sent: refused without waiting for it.
    assert.match(yield* raw(url, `${head}Content-Length: 1000000000\r\n\r\n{`), /^HTTP\/1\.1 413 /u)
    // Announced as short: nothing past the announcement is read as body.
    assert.match(yield* raw(url, `${head}Content-Length: 2\r\n\r\n{}${exact(5000)}`), /^HTTP\/1\.1 400 /u)
    assert.strictEqual(polled(yield* poll(guest)).room.latestSequence, 1)
  })

  it.effect("500 without a detail", function* () {
    const { url } = yield* TestServer
    const sql = yield* SqlClient.SqlClient
    const guest = yield* newRoom(url)
    yield* sql`ALTER TABLE room_messages RENAME TO elsewhere`
    const answer = yield* poll(guest)
    yield* sql`ALTER TABLE elsewhere RENAME TO room_messages`
    assertRefused(answer, 500, "INTERNAL")
    assert.notInclude(answer.text, "room_messages")
    assert.strictEqual((yield* poll(guest)).status, 200)
  })

  it.effect("its health without a token, uncached, and without a grant to an origin", function* () {
    const { url } = yield* TestServer
    for (const init of [{}, { headers: { origin: url } }, { method: "HEAD" }]) {
      const health = yield* ask(`${url}/api/health`, init).pipe(until("it stays away", ({ status }) => status === 200))
      if (health.text !== "") assert.deepStrictEqual(health.json["modes"], ["calm", "spark", "ping", "celebrate"])
      assert.strictEqual(health.headers.get("cache-control"), "no-store")
      assert.isNull(health.headers.get("access-control-allow-origin"))
    }
  })
})
