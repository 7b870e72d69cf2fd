/** `/api/health` belongs to the room's document: its refusals have the room's form. */
import { codeOf, layer as rooms } from "../lab/server/Rooms.ts"
import { ask } from "../lab/Fixture.ts"
import { assert, suite } from "../lab/Suites.ts"

suite("the room's health", rooms(), (it) => {
  it("answers without a token, is never cached, and grants no origin", function* ({ url }) {
    for (const headers of [{}, { origin: url }]) {
      const health = yield* ask(`${url}/api/health`, { headers })
      assert.strictEqual(health.status, 200, health.text)
      assert.deepStrictEqual(health.json["modes"], ["calm", "spark", "ping", "celebrate"])
      assert.strictEqual(health.headers.get("cache-control"), "no-store")
      assert.isNull(health.headers.get("access-control-allow-origin"))
    }
    assert.strictEqual((yield* ask(`${url}/api/health`, { method: "HEAD" })).status, 200)
  })

  it("refuses in the room's shape", function* ({ url }) {
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
