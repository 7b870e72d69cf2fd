/** The Python of the documents is run as it stands there, with nothing but the standard library. */
import { execFile } from "node:child_process"
import { readFileSync } from "node:fs"
import { promisify } from "node:util"
import { assert, layer } from "../lab/It.ts"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { buy } from "../lab/buyer/Purchase.ts"
import { serve } from "../lab/proxy/HttpServer.ts"
import { unescaped } from "../lab/Sources.ts"
import { ask, newCommitment, realClock, TestServer, world } from "../lab/Fixture.ts"

const run = promisify(execFile)

const guide = readFileSync(new URL("../../docs/integrating.md", import.meta.url), "utf8")

/** `-I`: no packages of this machine's user, no variables. */
const python = (program: string, url: string) => Effect.tryPromise(() => run("python3", ["-I", "-c", program, url]))

/** The altar, but with a stone of its chain changed. */
const lies = Effect.fnUntraced(function* (stone: number) {
  const { url } = yield* TestServer
  const { text } = yield* ask(`${url}/api/witness/chain`)
  const [, commitment = ""] = [...text.matchAll(/"commitment":"([0-9a-f]{64})"/gu)][stone - 1] ?? []
  return yield* serve(async (path) => {
    if (path.startsWith("/api/witness/chain")) return { status: 200, body: text.replace(commitment, newCommitment()) }
    const { status, text: body } = await Effect.runPromise(ask(url + path, { method: "POST" }))
    return { status, body }
  })
})

const twoStones = Layer.effectDiscard(Effect.andThen(buy(), buy())).pipe(Layer.provideMerge(world()))

layer(twoStones, realClock)("Python's standard library (with python3 in the PATH)", (it) => {
  it.effect("reads a price, checks the chain, sends signals, and rejects a false link", function* () {
    const { url } = yield* TestServer
    const program = /^```python\n([\s\S]*?)^```$/mu.exec(guide)?.[1] ?? ""
    const { stdout } = yield* python(program, url)
    assert.strictEqual(stdout, "402 10000\n2 stones hold\nWren: 2 stones hold.\n")
    const told = yield* Effect.flip(python(program, yield* lies(1)))
    assert.include(String(told.cause), "stone 1 does not hold")
    const sql = yield* SqlClient.SqlClient
    assert.deepEqual(yield* sql`SELECT count(*) AS n FROM rooms`, [{ n: 0n }])
  })

  it.effect(
    "recomputes the chain by the program that the page on checking shows, and finds a changed stone",
    function* () {
      const { url } = yield* TestServer
      const page = yield* ask(`${url}/verify`)
      const program = unescaped(/<code[^>]*>(import hashlib[^<]*)<\/code>/u.exec(page.text)?.[1] ?? "")
      const { stdout } = yield* python(program, url)
      const { json } = yield* ask(`${url}/api/witness/chain`)
      assert.strictEqual(stdout, `2 stones hold. The last hash is ${Object(json["head"]).chainHash}.\n`)
      const told = yield* Effect.flip(python(program, yield* lies(2)))
      assert.include(String(told.cause), "The chain is broken at stone 2.")
    },
  )
})
