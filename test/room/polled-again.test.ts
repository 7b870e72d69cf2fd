/** A room that was polled before is asked for by its token alone: nobody can tell by the answers. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { from, layer as rooms, newAddress, newRoom } from "../support/Rooms.ts"
import { ask, World } from "../support/World.ts"

const shown = ["content-type", "cache-control", "www-authenticate", "access-control-allow-origin", "ratelimit-policy"]

layer(rooms(), { excludeTestServices: true })("a room that was polled before", (it) => {
  it.effect("answers as it did, and refuses who has no token, another's, or comes from a foreign page", () =>
    Effect.gen(function* () {
      const { url } = yield* World
      const guest = yield* newRoom(url)
      const other = yield* newRoom(url)
      const callers: ReadonlyArray<Record<string, string>> = [
        {},
        { authorization: "Bearer" },
        { authorization: `Basic ${guest.token}` },
        { authorization: `bearer ${guest.token}` },
        { authorization: `Bearer ${guest.token.slice(1)}` },
        { authorization: `Bearer ${other.token}` },
        { authorization: `Bearer ${guest.token}`, origin: "https://elsewhere.example" },
        { authorization: `Bearer ${guest.token}` },
      ]
      const answers = Effect.forEach(callers, (headers) =>
        Effect.map(
          ask(`${url}/api/rooms/${guest.id}?after=0`, { headers: { ...from(newAddress()), ...headers } }),
          (answer) => ({
            status: answer.status,
            text: answer.text.replace(/"serverTime":"[^"]*"/u, ""),
            headers: shown.map((name) => answer.headers.get(name)),
          }),
        ),
      )
      const before = yield* answers
      assert.deepStrictEqual([...new Set(before.map(({ status }) => status))].sort(), [200, 401, 403])
      assert.deepStrictEqual(yield* answers, before)
      assert.deepStrictEqual(yield* answers, before)
      const removed = yield* ask(`${url}/api/rooms/${guest.id}`, {
        method: "DELETE",
        headers: { ...from(newAddress()), authorization: `Bearer ${guest.token}` },
      })
      assert.strictEqual(removed.status, 200, removed.text)
      const gone = yield* ask(`${url}/api/rooms/${guest.id}?after=0`, {
        headers: { ...from(newAddress()), authorization: `Bearer ${guest.token}` },
      })
      assert.strictEqual(gone.status, 404, gone.text)
    }),
  )
})
