/** Whole numbers in queries are decimal digits: other spellings of numbers that JavaScript accepts are rejected, in both services. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { bearer, codeOf, rooms, newRoom } from "../lab/server/Rooms.ts"
import { ask, realClock, TestServer } from "../lab/Fixture.ts"
import { operations } from "../lab/OpenApi.ts"

/** Every whole number that the document has in a query. */
const numbers = operations.flatMap(({ method, parameters, path }) =>
  parameters
    .filter((one) => method === "GET" && one.in === "query" && one.schema.type === "integer")
    .map(({ name, schema }) => ({ path, name, ...schema })),
)

const spellings = ["1e1", "1E1", "1e3", "10.0", "1.", "+1", "-0", "0x1", "0b1", "1_0", "1n", " 1", "1 ", "١", "１"]
const rest = ["", "Infinity", "NaN", "9".repeat(400)]

layer(rooms(), realClock)("whole numbers in queries", (it) => {
  it.effect("are all tested here", () => Effect.sync(() => assert.isAtLeast(numbers.length, 10)))

  it.effect.each(numbers)(
    "are accepted as decimal digits alone: $name of $path",
    ({ maximum = 0, minimum = 0, name, path }) =>
      Effect.gen(function* () {
        const { url } = yield* TestServer
        const guest = yield* newRoom(url)
        const isRoom = path.startsWith("/api/rooms")
        const read = (value: string) =>
          ask(`${url}${path.replace("{roomId}", guest.id)}?${name}=${encodeURIComponent(value)}`, {
            headers: isRoom ? bearer(guest) : {},
          })
        for (const value of [...spellings, ...rest, String(minimum - 1), String(BigInt(maximum) + 1n)]) {
          const answer = yield* read(value)
          assert.strictEqual(answer.status, 400, `${name}=${value.slice(0, 40)}: ${answer.text.slice(0, 200)}`)
          if (isRoom) assert.strictEqual(codeOf(answer), "BAD_REQUEST", value)
          else assert.strictEqual(answer.json["code"], "bad_request", value)
        }
        for (const value of [String(minimum), String(maximum), `00${minimum}`]) {
          assert.strictEqual((yield* read(value)).status, 200, `${name}=${value}`)
        }
      }),
  )
})
