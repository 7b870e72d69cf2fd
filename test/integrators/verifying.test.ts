/** The program that the page on checking the chain shows is run as it is shown, with nothing but Python's own library. */
import { execFile } from "node:child_process"
import { promisify } from "node:util"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { buy } from "../lab/buyer/Purchase.ts"
import { serve } from "../lab/proxy/HttpServer.ts"
import { ask, newCommitment, realClock, TestServer, world } from "../lab/Fixture.ts"
import { unescaped } from "../lab/Sources.ts"

const run = promisify(execFile)

const shown = Effect.gen(function* () {
  const { url } = yield* TestServer
  const { status, text } = yield* ask(`${url}/verify`)
  assert.strictEqual(status, 200)
  return unescaped(/<code[^>]*>(import hashlib[^<]*)<\/code>/u.exec(text)?.[1] ?? "")
})

layer(world(), realClock)("the page on checking the chain", (it) => {
  it.effect("shows a program that recomputes the chain and finds a changed stone", () =>
    Effect.gen(function* () {
      const { url } = yield* TestServer
      yield* Effect.andThen(buy(), buy())
      const program = yield* shown
      const check = (altar: string) => Effect.tryPromise(() => run("python3", ["-I", "-c", program, altar]))
      const { stdout } = yield* check(url)
      const { json } = yield* ask(`${url}/api/witness/chain`)
      assert.strictEqual(stdout, `2 stones hold. The last hash is ${Object(json["head"]).chainHash}.\n`)
      const { text } = yield* ask(`${url}/api/witness/chain`)
      const [, second = ""] = [...text.matchAll(/"commitment":"([0-9a-f]{64})"/gu)].map(([, one]) => one)
      const liar = yield* serve(async () => ({ status: 200, body: text.replace(second, newCommitment()) }))
      const told = yield* Effect.flip(check(liar))
      assert.include(String(told.cause), "The chain is broken at stone 2.")
    }),
  )
})
