/** The signal room's refusals of requests that no client library sends: other spellings of its paths, and bodies that are too long. */
import { Effect } from "effect"
import { openConnection } from "../lab/Connection.ts"
import { bearer, codeOf, from, layer as rooms, newAddress, newRoom, poll, polled } from "../lab/server/Rooms.ts"
import { type Answer, ask, post } from "../lab/Fixture.ts"
import { assert, suite } from "../lab/Suites.ts"

const told = (answer: Answer) => [answer.status, codeOf(answer)]
const message = { sender: "Wren", text: "hello", mode: "calm" }

/** The answer to bytes as they are. */
const raw = (url: string, ...chunks: ReadonlyArray<string>) =>
  Effect.scoped(Effect.flatMap(openConnection(Number(new URL(url).port)), ({ ask }) => ask(chunks.join(""))))

suite("the room answers", rooms(), (it) => {
  it("404 to every other spelling of its paths, without effect or CORS grant", function* ({ sql, url }) {
    const rooms = sql`SELECT count(*) FROM rooms`
    const before = yield* rooms
    const headers = { "content-type": "application/json", origin: "https://evil.example", host: new URL(url).host }
    for (const path of [
      "/api/rooms;x",
      "/api/rooms;",
      "/api/rooms#x",
      "/api/%72ooms",
      "/%61pi/rooms",
      "/api/rooms;x?y",
    ]) {
      const lines = [`POST ${path} HTTP/1.1`, ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`)]
      const answer = yield* raw(url, `${lines.join("\r\n")}\r\ncontent-length: 16\r\n\r\n{"name":"Stolen"}`)
      assert.match(answer, /^HTTP\/1\.1 404 /u, path)
      assert.match(answer, /\r\ncache-control: no-store\r\n/iu, path)
      assert.notMatch(answer, /access-control-allow-origin/iu, path)
      assert.match(answer, /"error":\{"code":"NOT_FOUND"/u, path)
    }
    assert.deepStrictEqual(yield* rooms, before)
    for (const path of ["/api/acts;x", "/mcp;x", "/api/acts#x"]) {
      const answer = yield* raw(url, `GET ${path} HTTP/1.1\r\nhost: altar\r\n\r\n`)
      assert.match(answer, /^HTTP\/1\.1 404 /u, path)
      assert.match(answer, /"ok":false,"code":"not_found"/u, path)
    }
  })

  it("413 to a body of more than 4096 bytes, however it is announced", function* ({ url }) {
    const guest = yield* newRoom(url)
    const path = `/api/rooms/${guest.id}/messages`
    const exact = (bytes: number) => {
      const body = JSON.stringify(message)
      return body + " ".repeat(bytes - body.length)
    }
    const accepted = yield* ask(`${url}${path}`, post(exact(4096), bearer(guest)))
    assert.strictEqual(accepted.status, 201, accepted.text)
    assert.deepStrictEqual(told(yield* ask(`${url}${path}`, post(exact(4097), bearer(guest)))), [413, "TOO_LARGE"])
    // 1400 characters, but 4200 bytes.
    const wide = yield* ask(`${url}${path}`, post({ ...message, text: "€".repeat(1400) }, bearer(guest)))
    assert.deepStrictEqual(told(wide), [413, "TOO_LARGE"])
    const head = `POST ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${guest.token}\r\nContent-Type: application/json\r\n`
    const kilobyte = `400\r\n${" ".repeat(1024)}\r\n`
    // Chunked and never finished: refused as soon as it is too long.
    const chunked = yield* raw(url, `${head}Transfer-Encoding: chunked\r\n\r\n`, kilobyte.repeat(5))
    assert.match(chunked, /^HTTP\/1\.1 413 /u)
    assert.include(chunked, '"code":"TOO_LARGE"')
    // Announced as endless and not sent: refused without waiting for it.
    assert.match(yield* raw(url, `${head}Content-Length: 1000000000\r\n\r\n{`), /^HTTP\/1\.1 413 /u)
    // Announced as short: nothing past the announcement is read as body.
    const short = yield* raw(url, `${head}Content-Length: 2\r\n\r\n{}${exact(5000)}`)
    assert.match(short, /^HTTP\/1\.1 400 /u)
    assert.strictEqual(polled(yield* poll(guest)).room.latestSequence, 1)
    const create = yield* ask(`${url}/api/rooms`, post(exact(4097), from(newAddress())))
    assert.deepStrictEqual(told(create), [413, "TOO_LARGE"])
  })
})
