/** A server that is still starting answers too: nobody who asks early, such as a probe for readiness, waits for ever. */
import { request } from "node:http"
import { assert, layer } from "@effect/vitest"
import { Effect, Fiber, Layer, Redacted } from "effect"
import { LocalDatabase } from "../../src/sandbox/LocalDatabase.ts"
import { database } from "../lab/Database.ts"
import * as ServerProcess from "../lab/server/ServerProcess.ts"

/** The status, or null where nobody listens yet; a request that is accepted and never answered never ends. */
const knock = (url: string) =>
  Effect.callback<number | null>((resume) => {
    const sent = request(`${url}/api/health`, { agent: false }, (response) => {
      response.resume()
      response.once("end", () => resume(Effect.succeed(response.statusCode ?? 0)))
    })
    sent.once("error", () => resume(Effect.succeed(null)))
    sent.end()
  })

layer(Layer.orDie(database), { excludeTestServices: true })("a starting server", (it) => {
  it.effect("answers everyone who reaches it: not yet, then yes", () =>
    Effect.gen(function* () {
      const { url: databaseUrl } = yield* LocalDatabase
      const server = yield* ServerProcess.make({ DATABASE_URL: Redacted.value(databaseUrl) })
      const starting = yield* Effect.forkChild(server.start)
      const knocks: Array<Fiber.Fiber<number | null>> = []
      while (starting.pollUnsafe() === undefined) {
        knocks.push(yield* Effect.forkChild(knock(server.url)))
        yield* Effect.sleep("2 millis")
      }
      yield* Fiber.join(starting)
      const answered = (yield* Effect.forEach(knocks, Fiber.join)).filter((status) => status !== null)
      assert.isNotEmpty(answered)
      assert.deepStrictEqual(
        answered.filter((status) => status !== 200 && status !== 503),
        [],
      )
      assert.strictEqual(yield* knock(server.url), 200)
    }),
  )
})
