/** MCP's own conformance suite, as far as its requirement sets apply; the rest is listed with reasons beside this file. */
import { execFile } from "node:child_process"
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, beforeAll, layer } from "@effect/vitest"
import { Effect } from "effect"
import { patience } from "../lab/Patience.ts"
import { layer as world, World } from "../lab/Fixture.ts"
import { install, tools } from "../tools/Install.ts"

const suite = join(tools, "node_modules/@modelcontextprotocol/conformance/dist/index.js")
const exceptions = new URL("conformance.yaml", import.meta.url).pathname

/** What has to pass: all that is asked of a server with tools and without sessions. */
const required = ["server-initialize", "ping", "tools-list", "dns-rebinding-protection"]

interface Check {
  readonly id: string
  readonly status: string
}

const conformance = (url: string) =>
  Effect.promise(async () => {
    const folder = await mkdtemp(join(tmpdir(), "spirit-altar-conformance-"))
    const args = ["server", "--url", url, "--suite", "all", "--expected-failures", exceptions, "--output-dir", folder]
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
    await rm(folder, { recursive: true })
    return { ...ended, checks: new Map(checks) }
  })

beforeAll(() => install(tools, "MCP's conformance suite, in test/tools"), patience(300))

layer(world(), { excludeTestServices: true })("MCP's conformance suite", (it) => {
  it.effect("passes where it applies, and fails only where this server offers nothing", () =>
    Effect.gen(function* () {
      const { url } = yield* World
      const { checks, code, text } = yield* conformance(`${url}/mcp`)
      assert.strictEqual(code, 0, text)
      for (const scenario of required) {
        const of = checks.get(scenario) ?? []
        assert.isNotEmpty(of, `${scenario} was not run`)
        assert.deepStrictEqual(
          of.filter(({ status }) => status === "FAILURE"),
          [],
        )
      }
    }),
  )
})
