/** A body with a `Content-Encoding` is refused everywhere before it is read, so it is never taken for another body. */
import { gzipSync } from "node:zlib"
import { SqlClient } from "effect/sql"
import { assert, layer } from "../lab/It.ts"
import { ask, newCommitment, realClock, TestServer, world } from "../lab/Fixture.ts"
import { newRoom } from "../lab/server/Rooms.ts"

const json = JSON.stringify({ commitment: newCommitment() })

const bodies: ReadonlyArray<readonly [string, string | Blob]> = [
  ["gzip", new Blob([gzipSync(json)])],
  ["gzip", json],
  ["GZIP", json],
  ["br", json],
  ["identity, gzip", json],
  ["aws-chunked", json],
]

layer(world(), realClock)("a body", (it) => {
  it.effect("with a Content-Encoding is answered 415, by rooms 400, with the encoding that is accepted", function* () {
    const { url } = yield* TestServer
    const sql = yield* SqlClient.SqlClient
    const { id, token } = yield* newRoom(url)
    const paths = ["/api/witness", "/api/prayers/moss-hare", `/api/witness/${id}/reveal`, "/mcp", "/sandbox/fund"]
    const rooms = ["/api/rooms", `/api/rooms/${id}`, `/api/rooms/${id}/messages`]
    for (const path of [...paths, ...rooms])
      for (const [encoding, body] of bodies) {
        const headers = {
          "content-type": "application/json",
          "content-encoding": encoding,
          authorization: `Bearer ${token}`,
        }
        const answer = yield* ask(`${url}${path}`, { method: "POST", headers, body })
        assert.strictEqual(answer.headers.get("accept-encoding"), "identity", path)
        const { code } = rooms.includes(path) ? Object(answer.json["error"]) : answer.json
        const expected = rooms.includes(path) ? [400, "BAD_REQUEST"] : [415, "unsupported_media_type"]
        assert.deepStrictEqual([answer.status, code], expected, `${path} ${encoding} ${answer.text}`)
      }
    const [stored] = yield* sql<{ n: bigint }>`SELECT count(*) AS n FROM payment_attempts`
    assert.strictEqual(stored?.n, 0n)
  })
})
