/** The Python of the documents is run as it stands there: it buys with our command, and checks with the standard library. */
import { execFile } from "node:child_process"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { promisify } from "node:util"
import { assert, layer } from "../lab/It.ts"
import { Effect, Layer } from "effect"
import { buy } from "../lab/buyer/Purchase.ts"
import { serve } from "../lab/proxy/HttpServer.ts"
import { unescaped } from "../lab/Sources.ts"
import { main } from "../lab/Process.ts"
import { terminal } from "../lab/Terminal.ts"
import { ask, newCommitment, realClock, TestServer, world } from "../lab/Fixture.ts"

const run = promisify(execFile)

const guide = readFileSync(new URL("../../docs/integrating.md", import.meta.url), "utf8")

/** `-I`: no packages of this machine's user, no variables. The command in the PATH buys at the true altar, whatever it is told. */
const python = Effect.fnUntraced(function* (program: string, url: string) {
  const { folder, own } = yield* terminal
  const { url: truth } = yield* TestServer
  const script = `#!/bin/bash\nexec '${process.execPath}' '${main}' "\${@/#http:*/${truth}}"\n`
  writeFileSync(join(folder, "spirit-altar"), script, { mode: 0o755 })
  const env = { ...own, PATH: `${folder}:${process.env["PATH"] ?? ""}` }
  return yield* Effect.tryPromise(() => run("python3", ["-I", "-c", program, url], { env }))
})

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

layer(twoStones, realClock)("a Python program (with python3 in the PATH)", (it) => {
  it.effect("buys a stone, finds it in the chain, and rejects a false link", function* () {
    const { url } = yield* TestServer
    const program = /^```python\n([\s\S]*?)^```$/mu.exec(guide)?.[1] ?? ""
    const { stdout } = yield* python(program, url)
    assert.strictEqual(stdout, "stone 3 for 10000\n3 stones hold, with ours: True\n")
    const refused = yield* Effect.flip(python(program, yield* lies(1)))
    assert.include(String(refused.cause), "stone 1 does not hold")
  })

  it.effect("recomputes the chain by the program on the page about checking, and finds a changed stone", function* () {
    const { url } = yield* TestServer
    const page = yield* ask(`${url}/verify`)
    const program = unescaped(/<code[^>]*>(import hashlib[^<]*)<\/code>/u.exec(page.text)?.[1] ?? "")
    const { stdout } = yield* python(program, url)
    const { json } = yield* ask(`${url}/api/witness/chain`)
    const { chainHash, sequence } = Object(json["head"])
    assert.strictEqual(stdout, `${sequence} stones hold. The last hash is ${chainHash}.\n`)
    const told = yield* Effect.flip(python(program, yield* lies(2)))
    assert.include(String(told.cause), "The chain is broken at stone 2.")
  })
})
