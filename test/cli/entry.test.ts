/** Before anything runs: a Node that is too old is told so in one sentence, and a server says which address it is bound to. */
import { delimiter, join } from "node:path"
import { assert, describe, it, layer } from "../lab/It.ts"
import { Effect, Redacted } from "effect"
import { LocalDatabase } from "../../src/sandbox/LocalDatabase.ts"
import { database } from "../lab/Database.ts"
import { freePort } from "../lab/Ports.ts"
import { main, run } from "../lab/Process.ts"
import { jsonOf, root } from "../lab/Sources.ts"
import { realClock } from "../lab/TestServices.ts"

const { scripts }: { readonly scripts: Readonly<Record<string, string>> } = jsonOf("package.json")

describe("on an old version of Node,", () => {
  const claim = `Object.defineProperty(process,"versions",{value:{...process.versions,node:"20.20.2"}})`
  const old = `--import=data:text/javascript,${encodeURIComponent(claim)}`
  const path = [join(process.execPath, ".."), process.env["PATH"]].join(delimiter)

  it.each(["build", "start", "serve", "buy", "verify", "openapi"])(
    "npm run %s names the needed version in one sentence",
    async (name) => {
      const env = { ...process.env, NODE_OPTIONS: old, PATH: path }
      const ended = await run(["-c", scripts[name] ?? "false"], { command: "sh", cwd: root, env }).ended
      assert.deepStrictEqual([ended.code, ended.stdout], [1, ""])
      assert.match(ended.stderr, /^Node 24 or newer is needed, and this is Node 20\.20\.2: [^\n]+\n$/u)
    },
  )
})

layer(database, realClock)("serve", (it) => {
  const heard = Effect.fnUntraced(function* (env: Readonly<Record<string, string>>) {
    const { url } = yield* LocalDatabase
    const set = { PATH: process.env["PATH"], DATABASE_URL: Redacted.value(url), ...env }
    const server = yield* Effect.acquireRelease(
      Effect.sync(() => run([main, "serve"], { env: set })),
      ({ kill }) => Effect.promise(kill),
    )
    const output = yield* Effect.promise(() => server.says('"server listening"'))
    const line = output.split("\n").find((text) => text.includes('"server listening"')) ?? ""
    const { address, paymentsNotConfigured, publicUrl }: Readonly<Record<string, string>> = JSON.parse(line)
    return [address, publicUrl, paymentsNotConfigured]
  }, Effect.scoped)

  it.effect("names the bound address, the public one beside it, and what payments lack", function* () {
    const port = String(yield* freePort)
    const missing = "PAY_TO, RPC_URL, RELAYER_KEY or FACILITATOR_URL"
    const open = yield* heard({ HOST: "0.0.0.0", PORT: port, PUBLIC_URL: "https://altar.example" })
    assert.deepStrictEqual(open, [`http://0.0.0.0:${port}`, "https://altar.example", missing])
    const local = `http://127.0.0.1:${port}`
    assert.deepStrictEqual(yield* heard({ PORT: port }), [local, local, missing])
  })
})
