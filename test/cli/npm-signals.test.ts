/** The scripts of package.json that keep running end with npm: a killed `npm start` leaves no server, database or chain. */
import { join } from "node:path"
import { Effect, Redacted } from "effect"
import { LocalDatabase } from "../../src/sandbox/LocalDatabase.ts"
import { database } from "../lab/Database.ts"
import { until } from "../lab/Eventually.ts"
import { freePort } from "../lab/Ports.ts"
import { run } from "../lab/Process.ts"
import { descendantsOf, type Listed, processes } from "../lab/Processes.ts"
import { jsonOf, root } from "../lab/Sources.ts"
import { newFolder } from "../lab/Folders.ts"
import { assert, assertSome, describe, it, suite } from "../lab/Suites.ts"

const living = (mine: ReadonlyArray<Listed>) =>
  processes().filter((one) => mine.some(({ pid, since }) => one.pid === pid && one.since === since))

const runScript = Effect.fnUntraced(function* (name: string, ready: string, env: Readonly<Record<string, string>>) {
  const started: Array<Listed> = []
  const npm = yield* Effect.acquireRelease(
    Effect.sync(() => run(["run", name], { command: "npm", cwd: root, env: { ...process.env, ...env } })),
    ({ signal }) =>
      Effect.sync(() => {
        signal("SIGKILL")
        for (const { pid } of living(started)) process.kill(pid, "SIGKILL")
      }),
  )
  const output = yield* Effect.promise(() => npm.says(ready))
  started.push(...descendantsOf(npm.pid))
  return { signal: npm.signal, output, started, ended: Effect.promise(() => npm.exited) }
})

const gone = (started: ReadonlyArray<Listed>) =>
  Effect.sync(() => living(started)).pipe(until("processes stay", (left) => left.length === 0))

describe("package.json", () => {
  it("gives every script of one program the shell's own process", () => {
    const { scripts }: { readonly scripts: Readonly<Record<string, string>> } = jsonOf("package.json")
    const short = new Set(["openapi", "token", "format", "package", "postinstall"])
    assert.deepStrictEqual(
      Object.entries(scripts)
        .filter(([name, line]) => !/&&|;/u.test(line) && !/(?:^| )exec /u.test(line) && !short.has(name))
        .map(([name]) => name),
      [],
    )
  })
})

suite("npm, when stopped,", database, (it) => {
  it.each(["start", "dev"])("leaves no process of `npm run %s`, which announces its first seconds", function* (name) {
    const folder = newFolder()
    const port = yield* freePort
    const env = { PORT: String(port), DATA_DIR: join(folder, "data"), DATABASE_URL: "", HOST: "", PUBLIC_URL: "" }
    const { ended, output, signal, started } = yield* runScript(name, "Ctrl-C", env)
    for (const line of ["Installing the database in", "Starting a private chain"])
      assert.isBelow(output.indexOf(line), output.indexOf("Spirit Altar sandbox"), output)
    assert.include(output, "Installing the database in")
    assert.include(output, "Starting a private chain")
    for (const program of ["src/start.js sandbox", "anvil", "postgres"])
      assertSome(started, ({ command }) => command.includes(program), program)
    signal("SIGTERM")
    yield* ended
    yield* gone(started)
  })

  it("leaves no process of `npm run serve`", function* () {
    const { url } = yield* LocalDatabase
    const port = yield* freePort
    const env = { PORT: String(port), DATABASE_URL: Redacted.value(url), HOST: "", PUBLIC_URL: "", PAY_TO: "" }
    const { ended, signal, started } = yield* runScript("serve", "server listening", env)
    assert.isTrue(started.some(({ command }) => command.includes("src/start.js serve")))
    signal("SIGTERM")
    yield* ended
    yield* gone(started)
  })
})
