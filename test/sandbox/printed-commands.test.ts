/** The documents' commands beside `npm start` work as printed. */
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { assert, describe, it } from "../lab/It.ts"
import { Effect } from "effect"
import * as OwnedProcess from "../../src/sandbox/OwnedProcess.ts"
import { freePort } from "../lab/Ports.ts"
import { run } from "../lab/Process.ts"
import { newFolder } from "../lab/Folders.ts"
import { exampleOf, root } from "../lab/Sources.ts"

const sandbox = Effect.gen(function* () {
  const folder = newFolder()
  const port = yield* freePort
  const env = { DATA_DIR: join(folder, "data"), PORT: String(port) }
  const unset = ["HOST", "PUBLIC_URL", "DATABASE_URL", "SPIRIT_ALTAR_URL", "SPIRIT_ALTAR_PRIVATE_KEY"]
  yield* OwnedProcess.start({
    command: "env",
    args: [
      ...unset.flatMap((name) => ["-u", name]),
      ...Object.entries(env).map(([name, value]) => `${name}=${value}`),
      process.execPath,
      join(root, "src/start.js"),
      "sandbox",
    ],
    ready: /Ctrl-C/u,
    stop: { signal: "SIGINT", force: "SIGKILL", patienceMs: 30_000 },
    cwd: root,
  })
  /** As a terminal runs it, up to the first line that fails; another port and what a reader fills in are put in. */
  const type = (text: string, filled: Readonly<Record<string, string>> = {}) =>
    Effect.promise(async () => {
      const own = Object.entries({ "127.0.0.1:3000": `127.0.0.1:${port}`, ...filled }).reduce(
        (line, [placeholder, value]) => line.replaceAll(placeholder, value),
        text,
      )
      const script = `set -e -o pipefail\nspirit-altar() { '${process.execPath}' src/start.js "$@"; }\n${own}`
      const environment: NodeJS.ProcessEnv = { ...process.env, ...env }
      for (const name of unset) delete environment[name]
      const { code, stderr, stdout } = await run(["-c", script], { command: "bash", cwd: root, env: environment }).ended
      if (code !== 0) throw new Error(`${own}\n${stdout}\n${stderr}`)
      return `${stdout}\n${stderr}`
    })
  return { folder, type }
})

describe.concurrent("beside a sandbox on another port, the commands of", () => {
  it.live("the README and of the pages on integrating, operating and testing work as printed", function* () {
    const { folder, type } = yield* sandbox
    const stone = yield* type(exampleOf("README.md", "npm run buy -- witness"))
    assert.include(stone, "paid        $0.01, once")
    assert.include(stone, "1 stone: every link hashes, every payment is on the chain.")
    const [, id = ""] = /reveal ([0-9a-f-]{36})$/mu.exec(stone) ?? []

    const bought = yield* type(exampleOf("docs/integrating.md", "npm run buy -- witness"), { ID: id })
    for (const said of ["The heron will return by May.", "$0.01, once", "$3.00, once"]) assert.include(bought, said)

    const asked = yield* type(exampleOf("docs/integrating.md", "# What does it cost?"))
    assert.match(asked, /^HTTP\/1\.1 402 /u)
    assert.include(asked, '"sequence":2')

    const [, key = ""] = /"key": "(buyer-[0-9a-f]{24})"/u.exec(stone) ?? []
    const reconciled = yield* type(exampleOf("docs/operating.md", "curl -si -X POST"), { "THE-KEY": key })
    assert.match(reconciled, /^HTTP\/1\.1 200 /u)
    assert.include(reconciled, id)

    const [, transaction = ""] = /"transaction": "(0x[0-9a-f]{64})"/u.exec(stone) ?? []
    const parts = exampleOf("docs/testing.md", "# the database")
    const chain = parts.slice(parts.indexOf("# the chain"))
    const receipts = yield* type(chain, { "0x…": transaction })
    assert.include(receipts, `"transactionHash":"${transaction}"`)
    assert.include(receipts, '"type":"CALL"')

    const environment = join(folder, "environment")
    yield* type(exampleOf("docs/operating.md", "spirit-altar log key"), { ".env": environment })
    assert.match(yield* Effect.promise(() => readFile(environment, "utf8")), /^LOG_KEY=\S+$/mu)
  })
})
