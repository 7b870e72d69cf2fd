/** A short form of `npm run campaign -- flood`: a server of its own process, more connections than it has places for. */
import { assert, layer } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { LocalDatabase } from "../../../src/sandbox/LocalDatabase.ts"
import { database } from "../../lab/Database.ts"
import { patience } from "../../lab/Patience.ts"
import { flood } from "./Flood.ts"
import { open } from "./Target.ts"

layer(database, { excludeTestServices: true })("a flood from many addresses", (it) => {
  it.effect(
    "finds so many places and rooms and no more, within the server's memory, and leaves no row behind",
    () =>
      Effect.gen(function* () {
        const { url } = yield* LocalDatabase
        const target = yield* Effect.acquireRelease(
          Effect.promise(() => open(0, [], Redacted.value(url))),
          (one) => Effect.promise(() => one.close()),
        )
        const lines: Array<string> = []
        const log = (line: string) => void lines.push(line)
        const options = { connections: 4_200, addresses: 10, patience: patience(60), log }
        const { faults } = yield* Effect.promise(() => flood(target, options))
        assert.deepStrictEqual(faults, [], lines.join("\n"))
      }),
    patience(240),
  )
})
