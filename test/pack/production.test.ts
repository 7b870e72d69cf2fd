/** A checkout with what production needs and nothing else: `npm ci --omit=dev && npm run serve`. */
import { existsSync } from "node:fs"
import { cp, readFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import { assert, layer } from "../lab/It.ts"
import { Effect, Redacted } from "effect"
import { LocalDatabase } from "../../src/sandbox/LocalDatabase.ts"
import * as OwnedProcess from "../../src/sandbox/OwnedProcess.ts"
import { database } from "../lab/Database.ts"
import { freePort } from "../lab/Ports.ts"
import { ask, becomes, realClock } from "../lab/Fixture.ts"
import { newFolder } from "../lab/Folders.ts"
import { npm, stop, weightOf } from "./Packed.ts"
import { assertNone } from "../lab/Assertions.ts"

const root = new URL("../..", import.meta.url).pathname

const checkout = Effect.promise(async () => {
  const folder = newFolder()
  for (const name of ["package.json", "package-lock.json", ".npmrc", "src", "schema", "migrations"])
    await cp(join(root, name), join(folder, name), { recursive: true })
  return folder
})

layer(database, realClock)("a checkout without development's tools", (it) => {
  it.effect("serves pages and API", function* () {
    const folder = yield* checkout
    const output = yield* Effect.promise(() => npm(["ci", "--omit=dev", "--prefer-offline"], folder))
    assert.match(output, /added \d+ packages/u)
    const modules = join(folder, "node_modules")
    const idle = ["typescript", "redis", "@modelcontextprotocol", "@x402", "mppx", "zod", "express"]
    assertNone(idle, (name) => existsSync(join(modules, name)))
    assert.isBelow(yield* Effect.promise(() => weightOf(modules)), 160_000_000)
    const port = yield* freePort
    const url = `http://127.0.0.1:${port}`
    const set = {
      PATH: `${dirname(process.execPath)}:${process.env["PATH"]}`,
      HOST: "127.0.0.1",
      PORT: String(port),
      PUBLIC_URL: url,
      DATABASE_URL: Redacted.value((yield* LocalDatabase).url),
    }
    const { scripts } = JSON.parse(yield* Effect.promise(() => readFile(join(folder, "package.json"), "utf8")))
    // The command of `npm run serve`, without npm, which may be of any age.
    let said = ""
    yield* OwnedProcess.start({
      command: "env",
      args: [...Object.entries(set).map(([name, value]) => `${name}=${value}`), "sh", "-c", scripts.serve],
      ready: /server listening/,
      stop,
      cwd: folder,
      hear: (text) => void (said += text),
    }).pipe(Effect.orDie)
    assert.match(said, /^Building the server and its pages: [^\n]+\n/u)
    yield* becomes(`${url}/api/health`, 200)
    const assets = (yield* ask(`${url}/assets.json`)).json
    for (const page of ["/v2/", "/signals/", "/docs", "/for-agents", ...Object.values(assets).flat().map(String)])
      assert.strictEqual((yield* ask(url + page, { headers: { accept: "*/*" } })).status, 200, String(page))
  })
})
