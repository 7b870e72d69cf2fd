/** A log is configured by one key, under the name it has for life; a key that does not fit is refused in one sentence. */
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Exit, Redacted, Result } from "effect"
import { oneLine } from "../../src/cli/Trouble.ts"
import { production } from "../../src/server/config/Config.ts"
import { generate } from "../../src/log/Signer.ts"

const key = Redacted.value(Result.getOrThrow(generate("altar.example/log")))

const read = (env: Record<string, string>) =>
  production.parse(
    ConfigProvider.fromEnv({
      env: { DATABASE_URL: "postgres://db/altar", PUBLIC_URL: "https://altar.example", ...env },
    }),
  )

const refusal = (env: Record<string, string>) =>
  Effect.map(Effect.exit(read(env)), (exit) => (Exit.isFailure(exit) ? oneLine(exit.cause) : ""))

describe("the log's configuration", () => {
  it.effect("is nothing without a key", () =>
    Effect.gen(function* () {
      assert.isUndefined((yield* read({})).log)
      assert.isUndefined((yield* read({ LOG_ORIGIN: "altar.example/log" })).log)
    }),
  )

  it.effect("is named after the public URL, or as it is told", () =>
    Effect.gen(function* () {
      const { log } = yield* read({ LOG_KEY: key })
      assert.deepStrictEqual([log?.origin, log?.signer.name], ["altar.example/log", "altar.example/log"])
      const moved = yield* read({ LOG_KEY: key, PUBLIC_URL: "https://new.example", LOG_ORIGIN: "altar.example/log" })
      assert.strictEqual(moved.log?.origin, "altar.example/log")
    }),
  )

  it.effect("refuses a key of another name or form, and quotes none", () =>
    Effect.gen(function* () {
      const other = yield* refusal({ LOG_KEY: key, PUBLIC_URL: "https://new.example" })
      assert.match(other, /^LOG_KEY is the key of altar\.example\/log, but this log is new\.example\/log: /u)
      const wrong = yield* refusal({ LOG_KEY: "PRIVATE+KEY+altar.example/log+00000000+secret" })
      assert.match(wrong, /^LOG_KEY is wrong: /u)
      for (const said of [other, wrong]) {
        assert.notInclude(said, "secret")
        assert.notInclude(said, key.slice(-30))
        assert.notInclude(said, "\n")
      }
    }),
  )
})
