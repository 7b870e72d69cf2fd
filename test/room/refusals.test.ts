/** Every refusal of the signal room: which condition yields which status, code and headers. */
import { bearer, codeOf, from, layer as rooms, newAddress, newRoom, poll, send } from "../lab/server/Rooms.ts"
import { type Answer, ask, post } from "../lab/Fixture.ts"
import { assert, suite } from "../lab/Suites.ts"

const told = (answer: Answer) => [answer.status, codeOf(answer)]
const message = { sender: "Wren", text: "hello", mode: "calm" }
const unknown = "5f1b7c0e-3d2a-4f6b-8c9d-1e2f3a4b5c6d"

suite("the room answers", rooms(), (it) => {
  it("401 to every token but this room's, and 404 to every id without a room", function* ({ url }) {
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
        assert.deepStrictEqual(told(answer), [401, "UNAUTHORIZED"], authorization)
        assert.strictEqual(answer.headers.get("www-authenticate"), "Bearer")
        assert.strictEqual(answer.headers.get("cache-control"), "no-store")
      }
    }
    assert.strictEqual((yield* ask(room, { headers: { authorization: `bearer ${guest.token}` } })).status, 200)
    for (const id of [unknown, guest.id.toUpperCase(), `${guest.id}0`, "x", guest.id.replace(/-4/u, "-1")]) {
      assert.deepStrictEqual(told(yield* poll({ ...guest, id })), [404, "NOT_FOUND"], id)
      assert.deepStrictEqual(told(yield* send({ ...guest, id })), [404, "NOT_FOUND"], id)
    }
  })

  it("404 and 405 in its own form, with Allow", function* ({ url }) {
    const guest = yield* newRoom(url)
    const try_ = (method: string, path: string) => ask(`${url}/api/rooms${path}`, { method, headers: bearer(guest) })
    for (const path of ["/", `/${guest.id}/`, `/${guest.id}/nothing`, `/${guest.id}/messages/1`]) {
      assert.deepStrictEqual(told(yield* try_("GET", path)), [404, "NOT_FOUND"], path)
    }
    for (const [method, path, allow] of [
      ["GET", "", "POST"],
      ["DELETE", "", "POST"],
      ["OPTIONS", "", "POST"],
      ["PUT", `/${guest.id}`, "DELETE, GET, HEAD, POST"],
      ["OPTIONS", `/${guest.id}`, "DELETE, GET, HEAD, POST"],
      ["GET", `/${guest.id}/messages`, "POST"],
      ["POST", `/${guest.id}/stream`, "GET, HEAD"],
    ] as const) {
      const answer = yield* try_(method, path)
      assert.deepStrictEqual(told(answer), [405, "METHOD_NOT_ALLOWED"], `${method} ${path}`)
      assert.strictEqual(answer.headers.get("allow"), allow)
      assert.strictEqual(answer.headers.get("cache-control"), "no-store")
    }
    const head = yield* ask(`${url}/api/rooms/${guest.id}`, { method: "HEAD", headers: bearer(guest) })
    assert.deepStrictEqual([head.status, head.text], [200, ""])
  })

  it("403 to every foreign origin, and grants none", function* ({ url }) {
    const guest = yield* newRoom(url)
    const room = `${url}/api/rooms/${guest.id}`
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
      ]) {
        assert.deepStrictEqual(told(answer), [403, "FORBIDDEN"], origin)
        assert.strictEqual(answer.headers.get("access-control-allow-origin"), null)
      }
    }
    const own = yield* ask(room, { headers: { ...bearer(guest), origin: url } })
    assert.strictEqual(own.status, 200)
    assert.strictEqual(own.headers.get("access-control-allow-origin"), null)
  })

  it("with its page to every caller, without a grant to other origins", function* ({ url }) {
    const grants = (answer: Answer) => [...answer.headers.keys()].filter((name) => name.startsWith("access-control-"))
    const origin = "https://evil.example"
    const preflight = { method: "OPTIONS", headers: { origin, "access-control-request-method": "GET" } }
    for (const path of ["/signals/", "/signals/index.html", "/signals/nothing"])
      for (const init of [{}, { headers: { origin } }, { method: "HEAD" }, { method: "POST" }, preflight])
        assert.deepStrictEqual(grants(yield* ask(`${url}${path}`, init)), [], `${path} ${JSON.stringify(init)}`)
    const page = yield* ask(`${url}/signals/`)
    assert.deepStrictEqual([page.status, page.headers.get("cache-control")?.includes("no-store")], [200, false])
    const asked = yield* ask(`${url}/signals/`, preflight)
    assert.deepStrictEqual([asked.status, asked.headers.get("cache-control")], [404, "no-store"])
    // Beside it, the altar's pages and routes are as open as ever.
    for (const path of ["/v2/", "/api/acts"])
      assert.include(grants(yield* ask(`${url}${path}`)), "access-control-allow-origin", path)
  })

  it("400 to every undocumented form, and stores nothing", function* ({ sql, url }) {
    const guest = yield* newRoom(url)
    const room = `${url}/api/rooms/${guest.id}`
    const control = ["\u0000", "\n", "\u0007", "\u007f", "\u0085", "\u2028", "\u2029", "\u202e", "\u2066", "\ud800"]
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
      { ...message, sender: " \t " },
      { ...message, sender: "a".repeat(41) },
      { ...message, text: "🜁".repeat(161) },
      { ...message, text: 1 },
      { ...message, clientId: "" },
      { ...message, clientId: "a".repeat(65) },
      { ...message, clientId: "a b" },
      { ...message, clientId: "é" },
      { ...message, seq: 1 },
      `{"__proto__": {}, ${JSON.stringify(message).slice(1)}`,
      ...control.flatMap((char) => [
        { ...message, text: `a${char}b` },
        { ...message, sender: `a${char}b` },
      ]),
    ]
    for (const body of bodies) {
      const answer = yield* ask(`${room}/messages`, post(body, bearer(guest)))
      assert.deepStrictEqual(told(answer), [400, "BAD_REQUEST"], JSON.stringify(body))
    }
    const text = JSON.stringify(message)
    for (const type of ["text/plain", "application/x-www-form-urlencoded", "application/jsonx"]) {
      const answer = yield* ask(`${room}/messages`, post(text, { ...bearer(guest), "content-type": type }))
      assert.deepStrictEqual(told(answer), [400, "BAD_REQUEST"], type)
    }
    const latin = yield* ask(`${room}/messages`, {
      ...post("", bearer(guest)),
      body: Buffer.from(JSON.stringify({ ...message, text: "é" }), "latin1"),
    })
    assert.deepStrictEqual(told(latin), [400, "BAD_REQUEST"])
    for (const query of [
      "after=-1",
      "after=1.5",
      "after=x",
      "after=",
      "after=9007199254740992",
      "after=1&after=2",
      "token=x",
    ]) {
      assert.deepStrictEqual(told(yield* poll(guest, `?${query}`)), [400, "BAD_REQUEST"], query)
    }
    assert.deepStrictEqual(told(yield* ask(`${room}/messages?token=${guest.token}`, post(message, bearer(guest)))), [
      400,
      "BAD_REQUEST",
    ])
    const [row] = yield* sql<{ latest: number }>`
        SELECT latest_sequence AS latest FROM rooms WHERE id = ${guest.id}::uuid`
    assert.strictEqual(row?.latest, 0)
    // The accepted requests: the longest text, astral letters, joined emoji, right-to-left words.
    for (const words of ["🜁".repeat(160), "👩‍🚀 ok", "שלום עולם"]) {
      const answer = yield* send(guest, {
        text: words,
        sender: "🜁".repeat(40),
        clientId: "-_aZ09".padEnd(64, words.length > 99 ? "x" : "y").slice(words.length % 7),
      })
      assert.strictEqual(answer.status, 201, answer.text)
      assert.strictEqual(JSON.parse(answer.text).message.text, words)
    }
  })

  it("500 without a detail", function* ({ sql, url }) {
    const guest = yield* newRoom(url)
    yield* sql`ALTER TABLE room_messages RENAME TO elsewhere`
    const answer = yield* poll(guest)
    yield* sql`ALTER TABLE elsewhere RENAME TO room_messages`
    assert.deepStrictEqual(told(answer), [500, "INTERNAL"])
    assert.deepStrictEqual(Object.keys(JSON.parse(answer.text)), ["error"])
    assert.notInclude(answer.text, "room_messages")
    assert.strictEqual((yield* poll(guest)).status, 200)
  })

  it("its health without a token, uncached, and without a grant to an origin", function* ({ url }) {
    for (const headers of [{}, { origin: url }]) {
      const health = yield* ask(`${url}/api/health`, { headers })
      assert.strictEqual(health.status, 200, health.text)
      assert.deepStrictEqual(health.json["modes"], ["calm", "spark", "ping", "celebrate"])
      assert.strictEqual(health.headers.get("cache-control"), "no-store")
      assert.isNull(health.headers.get("access-control-allow-origin"))
    }
    assert.strictEqual((yield* ask(`${url}/api/health`, { method: "HEAD" })).status, 200)
  })

  it("about its health with refusals in its own form", function* ({ url }) {
    const refused: ReadonlyArray<readonly [RequestInit, string, number, string]> = [
      [{ method: "POST" }, "", 405, "METHOD_NOT_ALLOWED"],
      [{ method: "DELETE" }, "", 405, "METHOD_NOT_ALLOWED"],
      [{ method: "OPTIONS" }, "", 405, "METHOD_NOT_ALLOWED"],
      [{}, "?token=x", 400, "BAD_REQUEST"],
      [{}, "/", 404, "NOT_FOUND"],
      [{}, "/x", 404, "NOT_FOUND"],
      [{ headers: { origin: "https://evil.example" } }, "", 403, "FORBIDDEN"],
    ]
    for (const [init, rest, status, code] of refused) {
      const answer = yield* ask(`${url}/api/health${rest}`, init)
      const what = `${init.method ?? "GET"} /api/health${rest}`
      assert.deepStrictEqual([answer.status, codeOf(answer)], [status, code], `${what}: ${answer.text}`)
      assert.deepStrictEqual(Object.keys(answer.json), ["error"], what)
      assert.strictEqual(answer.headers.get("cache-control"), "no-store", what)
      if (status === 405) assert.strictEqual(answer.headers.get("allow"), "GET, HEAD", what)
    }
  })
})
