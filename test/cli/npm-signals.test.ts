/** The scripts of package.json that keep running end with npm: a killed `npm start` leaves no server, database or chain. */
import { join } from "node:path"
import { Effect, Redacted } from "effect"
import { LocalDatabase } from "../../src/sandbox/LocalDatabase.ts"
import { database } from "../lab/Database.ts"
import { until } from "../lab/Eventually.ts"
import { freePort } from "../lab/Ports.ts"
import { run } from "../lab/Process.ts"
import { descendantsOf, type Listed, processes } from "../lab/Processes.ts"
import { root } from "../lab/Sources.ts"
import { newFolder } from "../lab/Folders.ts"
import { assertSome, suite } from "../lab/Suites.ts"

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
  yield* Effect.promise(() => npm.says(ready))
  started.push(...descendantsOf(npm.pid))
  return { signal: npm.signal, started, ended: Effect.promise(() => npm.exited) }
})

suite("npm, when stopped,", database, (it) => {
  it.each([
    ["start", "Ctrl-C", ["src/start.js sandbox", "anvil", "postgres"]],
    ["serve", "server listening", ["src/start.js serve"]],
  ] as const)("leaves no process of `npm run %s`", function* ([name, ready, programs]) {
    const { url } = yield* LocalDatabase
    const port = yield* freePort
    const own = name === "start" ? { DATA_DIR: join(newFolder(), "data") } : { DATABASE_URL: Redacted.value(url) }
    const env = { PORT: String(port), DATABASE_URL: "", HOST: "", PUBLIC_URL: "", PAY_TO: "", ...own }
    const { ended, signal, started } = yield* runScript(name, ready, env)
    for (const program of programs) assertSome(started, ({ command }) => command.includes(program), program)
    signal("SIGTERM")
    yield* ended
    yield* Effect.sync(() => living(started)).pipe(until("processes stay", (left) => left.length === 0))
  })
})
