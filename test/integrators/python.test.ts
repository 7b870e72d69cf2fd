/** The Python of the integrator's guide is run as it stands there, with nothing but the standard library. */
import { execFile } from "node:child_process"
import { readFileSync } from "node:fs"
import { promisify } from "node:util"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { buy } from "../lab/buyer/Purchase.ts"
import { serve } from "../lab/proxy/HttpServer.ts"
import { ask, newCommitment, realClock, TestServer, world } from "../lab/Fixture.ts"

const run = promisify(execFile)

const guide = readFileSync(new URL("../../docs/integrating.md", import.meta.url), "utf8")
const program = /^```python\n([\s\S]*?)^```$/mu.exec(guide)?.[1] ?? ""

/** `-I`: no packages of this machine's user, no variables. */
const python = (url: string) => Effect.tryPromise(() => run("python3", ["-I", "-c", program, url]))

/** The altar, but with a changed chain. */
const lies = (url: string, chain: string) =>
  serve(async (path) => {
    if (path.startsWith("/api/witness/chain")) return { status: 200, body: chain }
    const { status, text } = await Effect.runPromise(ask(url + path, { method: "POST" }))
    return { status, body: text }
  })

layer(world(), realClock)("Python's standard library (with python3 in the PATH)", (it) => {
  it.effect("reads a price, checks the chain, sends signals, and rejects a false link", () =>
    Effect.gen(function* () {
      const { url } = yield* TestServer
      yield* Effect.andThen(buy(), buy())
      const { stdout } = yield* python(url)
      assert.strictEqual(stdout, "402 10000\n2 stones hold\nWren: 2 stones hold.\n")
      const { text } = yield* ask(`${url}/api/witness/chain`)
      const falsified = text.replace(/"commitment":"[0-9a-f]{64}"/u, `"commitment":"${newCommitment()}"`)
      const liar = yield* lies(url, falsified)
      const told = yield* Effect.flip(python(liar))
      assert.include(String(told.cause), "stone 1 does not hold")
      const sql = yield* SqlClient.SqlClient
      assert.deepEqual(yield* sql`SELECT count(*) AS n FROM rooms`, [{ n: 0n }])
    }),
  )
})
