/** Before anything runs: a Node that is too old is told so in one sentence, and a server says which address it is bound to. */
import { spawnSync } from "node:child_process"
import { delimiter, join } from "node:path"
import { Effect, Redacted } from "effect"
import { LocalDatabase } from "../../src/sandbox/LocalDatabase.ts"
import * as OwnedProcess from "../../src/sandbox/OwnedProcess.ts"
import { database } from "../lab/Database.ts"
import { freePort } from "../lab/Ports.ts"
import { main, run } from "../lab/Process.ts"
import { jsonOf, root } from "../lab/Sources.ts"
import { assert, describe, it, suite } from "../lab/Suites.ts"

const { scripts }: { readonly scripts: Readonly<Record<string, string>> } = jsonOf("package.json")

const oldNode = [...(process.env["PATH"] ?? "").split(delimiter), "/usr/bin", "/usr/local/bin"].find((folder) => {
  const { status, stdout } = spawnSync(join(folder, "node"), ["--version"], { encoding: "utf8" })
  return status === 0 && Number(/^v(\d+)/u.exec(stdout)?.[1]) < 24
})

describe("on an old version of Node,", () => {
  const claim = `Object.defineProperty(process,"versions",{value:{...process.versions,node:"20.20.2"}})`
  const old = `--import=data:text/javascript,${encodeURIComponent(claim)}`

  const sentence =
    /^Node 24 or newer is needed, and this is Node \d+\.\d+\.\d+: install it, or in a checkout run npm ci, which brings one\.\n$/u
  const names = ["build", "start", "serve", "buy", "verify", "openapi"]

  it.each(names)("npm run %s names the needed version in one sentence", async (name) => {
    const path = (first: string) => [first, process.env["PATH"]].join(delimiter)
    const claiming = { NODE_OPTIONS: old, PATH: path(join(process.execPath, "..")) }
    for (const env of [claiming, ...(oldNode === undefined ? [] : [{ PATH: path(oldNode) }])]) {
      const line = ["-c", scripts[name] ?? "false"]
      const ended = await run(line, { command: "sh", cwd: root, env: { ...process.env, ...env } }).ended
      assert.deepStrictEqual([ended.code, ended.stdout], [1, ""])
      assert.match(ended.stderr, sentence)
    }
  })
})

const stop: OwnedProcess.Stop = { signal: "SIGTERM", force: "SIGKILL", patienceMs: 20_000 }

suite("serve", database, (it) => {
  const heard = (env: Readonly<Record<string, string>>) =>
    Effect.gen(function* () {
      const { url } = yield* LocalDatabase
      const bare = ["HOST", "PORT", "PUBLIC_URL", "PAY_TO", "RPC_URL", "RELAYER_KEY"].flatMap((name) => ["-u", name])
      const set = { DATABASE_URL: Redacted.value(url), ...env }
      const { ready } = yield* OwnedProcess.start({
        command: "env",
        args: [...bare, ...Object.entries(set).map(([k, v]) => `${k}=${v}`), process.execPath, main, "serve"],
        ready: /^\{.*"server listening".*\}$/mu,
        stop,
        cwd: root,
      })
      const { address, paymentsNotConfigured, publicUrl }: Readonly<Record<string, string>> = JSON.parse(ready[0])
      return [address, publicUrl, paymentsNotConfigured]
    }).pipe(Effect.scoped, Effect.orDie)

  it("names the bound address, and the public one beside it when they differ", function* () {
    const port = yield* freePort
    const missing = "PAY_TO, RPC_URL, RELAYER_KEY or FACILITATOR_URL"
    assert.deepStrictEqual(yield* heard({ HOST: "0.0.0.0", PORT: String(port), PUBLIC_URL: "https://altar.example" }), [
      `http://0.0.0.0:${port}`,
      "https://altar.example",
      missing,
    ])
    const local = `http://127.0.0.1:${port}`
    assert.deepStrictEqual(yield* heard({ PORT: String(port) }), [local, local, missing])
  })
})
