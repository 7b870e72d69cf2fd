/** MCP's own conformance suite, as far as its requirement sets apply; the rest is listed with reasons beside this file. */
import { execFile } from "node:child_process"
import { readdir, readFile } from "node:fs/promises"
import { join } from "node:path"
import { assert, beforeAll, layer } from "../lab/It.ts"
import { Effect } from "effect"
import { patience } from "../lab/Patience.ts"
import { realClock, TestServer, world } from "../lab/Fixture.ts"
import { mustBeInstalled, packageFile } from "../integrators/Workbench.ts"
import { newFolder } from "../lab/Folders.ts"

/** Both lines of the suite, with the checks of each scenario that has to pass. */
const lines = [
  {
    name: "0.1, revisions before 2026",
    suite: "@modelcontextprotocol/conformance",
    args: [],
    exceptions: "conformance.yaml",
    required: { "server-initialize": 1, ping: 1, "tools-list": 1, "dns-rebinding-protection": 2 },
  },
  {
    name: "0.2, 2025-06-18",
    suite: "conformance-next",
    args: ["--spec-version", "2025-06-18"],
    exceptions: "conformance.yaml",
    required: { "server-initialize": 2, ping: 2, "tools-list": 2 },
  },
  {
    name: "0.2, 2026-07-28",
    suite: "conformance-next",
    args: ["--spec-version", "2026-07-28"],
    exceptions: "conformance-2026.yaml",
    required: {
      "http-header-validation": 14,
      "tools-list": 4,
      "dns-rebinding-protection": 2,
      "server-stateless": 21,
      caching: 4,
    },
  },
] as const

interface Check {
  readonly id: string
  readonly status: string
}

const conformance = (url: string, line: (typeof lines)[number]) =>
  Effect.promise(async () => {
    const suite = packageFile(`${line.suite}/dist/index.js`)
    const exceptions = new URL(line.exceptions, import.meta.url).pathname
    const folder = newFolder()
    const common = ["--suite", "all", "--expected-failures", exceptions, "--output-dir", folder]
    const args = ["server", "--url", url, ...line.args, ...common]
    const ended = await new Promise<{ code: number; text: string }>((resolve) => {
      const child = execFile(process.execPath, [suite, ...args], { timeout: patience(100) }, (_, out, err) =>
        resolve({ code: child.exitCode ?? -1, text: out + err }),
      )
    })
    const files = (await readdir(folder, { recursive: true })).filter((file) => file.endsWith("checks.json"))
    const checks = await Promise.all(
      files.map(async (file) => {
        const all: ReadonlyArray<Check> = JSON.parse(await readFile(join(folder, file), "utf8"))
        return [file.replace(/^server-|-\d{4}-.*$/gu, ""), all] as const
      }),
    )
    return { ...ended, checks: new Map(checks) }
  })

beforeAll(mustBeInstalled)

// A server for each: the suites send more messages together than one address may in a minute.
for (const line of lines) {
  layer(world(), realClock)(`MCP's conformance suite ${line.name}`, (it) => {
    it.effect("finds faults only in features that this server does not offer", function* () {
      const { url } = yield* TestServer
      const { checks, code, text } = yield* conformance(`${url}/mcp`, line)
      assert.strictEqual(code, 0, text)
      for (const [scenario, wanted] of Object.entries(line.required)) {
        const of = checks.get(scenario) ?? []
        assert.isAtLeast(of.filter(({ status }) => status === "SUCCESS").length, wanted, `${scenario}: ${text}`)
      }
    })
  })
}
