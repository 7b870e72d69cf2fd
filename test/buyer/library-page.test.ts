/** The program of the library's page, as its reader saves and runs it. */
import { mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, layer } from "../lab/It.ts"
import { Effect } from "effect"
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"
import { authorizationsUsed } from "../lab/buyer/LibraryBuyer.ts"
import { sandbox } from "../lab/browser/Guide.ts"
import { realClock, TestServer } from "../lab/Fixture.ts"
import { run } from "../lab/Process.ts"
import { newFolder } from "../lab/Folders.ts"

const root = new URL("../..", import.meta.url).pathname
const page = readFileSync(join(root, "docs/integrating.md"), "utf8")
const programs = [...page.matchAll(/^```js\n([\s\S]*?)^```$/gmu)].map(([, program = ""]) => program)

/** Where the package is installed: its entries are those of `package.json`, in their sources. */
const project = Effect.sync(() => {
  const folder = newFolder()
  const { exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"))
  const installed = join(folder, "node_modules", "spirit-altar")
  mkdirSync(installed, { recursive: true })
  const entry = (name: "." | "./journal", file: string) => {
    const source = exports[name].default.replace("./dist/lib/", root).replace(/\.js$/u, ".ts")
    writeFileSync(join(installed, file), `export * from ${JSON.stringify(source)}\n`)
    return [name, `./${file}`] as const
  }
  const entries = Object.fromEntries([entry(".", "index.js"), entry("./journal", "journal.js")])
  writeFileSync(join(installed, "package.json"), JSON.stringify({ type: "module", exports: entries }))
  symlinkSync(join(root, "node_modules", "viem"), join(folder, "node_modules", "viem"))
  writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }))
  writeFileSync(join(folder, "stone.js"), programs[0] ?? "")
  return folder
})

layer(sandbox(), realClock)("the program of docs/integrating.md", (it) => {
  it.effect("buys, reveals and stores in Node with a journal in a file, and a second run pays nothing", function* () {
    assert.strictEqual(programs.length, 1)
    const { url } = yield* TestServer
    const secret = generatePrivateKey()
    const account = privateKeyToAccount(secret)
    const folder = yield* project
    const env = { PATH: process.env["PATH"], ALTAR: url, PRIVATE_KEY: secret }
    const buys = Effect.map(
      Effect.promise(() => run(["stone.js"], { cwd: folder, env }).ended),
      ({ stderr, stdout }) => stdout + stderr,
    )
    const said = (how: string) =>
      new RegExp(`^stone 1 ${how} true\nThe heron will return by May\\.\n${url}/acts/[0-9a-f-]{36}\n$`, "u")
    assert.match(yield* buys, said("paid"))
    assert.match(yield* buys, said("repeated"))
    assert.strictEqual(statSync(join(folder, "purchases.db")).mode & 0o777, 0o600)
    assert.strictEqual(yield* authorizationsUsed({ account }), 2)
  })
})
