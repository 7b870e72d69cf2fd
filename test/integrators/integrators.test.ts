/** The document is good enough to build on: two linters find nothing in it, and a client of generated types pays with it. */
import { readFileSync } from "node:fs"
import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { assert, beforeAll, describe, it, layer } from "../lab/It.ts"
import { Context, Effect, Layer, Schema } from "effect"
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"
import { vi } from "vitest"
import { ListedStone } from "../../schema/altar/Witness.ts"
import { LocalChain } from "../../src/sandbox/LocalChain.ts"
import { withoutSharing } from "../../schema/openapi/Shared.ts"
import { patience } from "../lab/Patience.ts"
import { sandbox } from "../lab/browser/Guide.ts"
import { ask, realClock, TestServer } from "../lab/Fixture.ts"
import { exceptions } from "./exceptions.ts"
import { lint } from "./Lint.ts"
import type { Told } from "./programs/Setting.ts"
import * as Workbench from "./Workbench.ts"
import { assertNone, valuesOf } from "../lab/Assertions.ts"

// Installs at most once, generates and compiles: minutes on a loaded machine.
vi.setConfig({ testTimeout: patience(300), hookTimeout: patience(300) })

const document = fileURLToPath(new URL("../../schema/openapi.json", import.meta.url))

let bench = ""
beforeAll(async () => void (bench = await Workbench.open()))

it("the guide shows the program that runs here", () => {
  const [guide, program] = ["../../docs/integrating.md", "programs/stone.ts"].map((path) =>
    readFileSync(new URL(path, import.meta.url), "utf8"),
  )
  assert.include(guide, `\`\`\`ts\n${program}\`\`\`\n`)
})

describe("linters", () => {
  it("find nothing in the document beyond the listed exceptions", async () => {
    // The exceptions name places, so each answer is judged in its own.
    const inPlace = join(bench, "in-place.json")
    await writeFile(inPlace, JSON.stringify(withoutSharing(JSON.parse(readFileSync(document, "utf8")))))
    const findings = await lint(bench, inPlace)
    const meant = (rule: string, where: string) =>
      exceptions.filter((exception) => exception.rule === rule && exception.where.test(where))
    assertNone(findings, ({ rule, where }) => meant(rule, where).length === 0)
    const used = new Set(findings.flatMap(({ rule, where }) => meant(rule, where)))
    assertNone(exceptions, (exception) => !used.has(exception), "an exception that nothing needs")
  })
})

/** Generators of whole clients, their arguments for a document at an address, and the program that uses each. */
const generators = [
  {
    tool: "openapi-ts",
    program: "hey-api.ts",
    args: (url: string) => ["-i", url, "-o", "hey-api", "-c", "@hey-api/client-fetch"],
  },
  {
    tool: "orval",
    program: "orval.ts",
    args: (url: string) => ["--input", url, "--output", "orval/altar.ts", "--client", "fetch"],
  },
  {
    tool: "swagger-typescript-api",
    program: "swagger.ts",
    args: (url: string) => ["generate", "-p", url, "-o", "swagger", "-n", "altar.ts"],
  },
]

const decodeStone = Schema.decodeUnknownEffect(ListedStone)

/** Generated from the served document and compiled once for all programs: that takes longer than running them. */
class Clients extends Context.Service<Clients, { readonly typed: string; readonly whole: string }>()("test/Clients") {
  static readonly layer = Layer.effect(
    Clients,
    Effect.gen(function* () {
      const { url } = yield* TestServer
      const document = `${url}/openapi.json`
      const generates = [
        ["openapi-typescript", [document, "-o", "altar.ts"]],
        ...generators.map(({ args, tool }) => [tool, args(document)] as const),
      ] as const
      for (const [tool, args] of generates) {
        const made = yield* Effect.promise(() => Workbench.tool(tool, args, bench))
        assert.strictEqual(made.code, 0, `${tool}: ${made.stdout}${made.stderr}`)
      }
      const complaints = (...of: Parameters<typeof Workbench.complaints>) =>
        Effect.promise(() => Workbench.complaints(...of))
      return {
        typed: yield* complaints(bench, ["openapi-fetch.ts", "stone.ts"]),
        whole: yield* complaints(bench, valuesOf(generators, "program"), "bundled"),
      }
    }),
  )
}

const world = Clients.layer.pipe(Layer.provideMerge(sandbox()))

layer(world, realClock)("clients generated from the served document", (it) => {
  const compiles = Effect.map(Clients, ({ typed }) => assert.strictEqual(typed, ""))

  const funded = Effect.gen(function* () {
    const key = generatePrivateKey()
    const { address } = privateKeyToAccount(key)
    yield* (yield* LocalChain).fund(address, 1_000_000n)
    return { key, payer: address.toLowerCase() }
  })

  /** Runs a type-checked program as an agent with money of its own, and finds on the server what it tells. */
  const proves = Effect.fnUntraced(function* (program: string) {
    const { url } = yield* TestServer
    const { key, payer } = yield* funded
    yield* compiles
    const { code, stderr, stdout } = yield* Effect.promise(() => Workbench.node(bench, [program, url, key]))
    assert.strictEqual(code, 0, stderr)
    const told: Told = JSON.parse(stdout)
    assert.deepInclude(told, { payer, replayed: true, pixels: 768, offered: "10000", signals: ["Wren: Set."] })
    const stone = yield* decodeStone((yield* ask(`${url}/api/witness/${told.stone}`)).json["stone"])
    const { commitment, sequence, transaction } = told
    assert.deepInclude(stone, { commitment, sequence, transaction, payer, kind: "promise" })
    assert.strictEqual(stone.reveal?.text, told.revealed)
  })

  it.effect("work and compile: openapi-typescript and openapi-fetch", () => proves("openapi-fetch.ts"))

  it.effect("work and compile: the program of the guide", function* () {
    const { url } = yield* TestServer
    yield* compiles
    const { code, stderr, stdout } = yield* Effect.promise(() => Workbench.node(bench, ["stone.ts"], { ALTAR: url }))
    assert.strictEqual(code, 0, stderr)
    const [line, words] = stdout.split("\n")
    assert.match(line ?? "", /^\d+ http:\/\/127\.0\.0\.1:\d+\/witness\/[0-9a-f-]{36} 0x[0-9a-f]{64}$/u)
    assert.strictEqual(words, "The heron will return by May.")
  })

  for (const { program, tool } of generators)
    it.effect(`buy and reveal: ${tool}`, function* () {
      const { url } = yield* TestServer
      const { key } = yield* funded
      assert.strictEqual((yield* Clients).whole, "")
      const bundled = yield* Effect.promise(() => Workbench.bundle(bench, program))
      const { code, stderr, stdout } = yield* Effect.promise(() => Workbench.node(bench, [bundled, url, key]))
      assert.strictEqual(code, 0, stderr)
      assert.match(stdout, /^Bought with /u)
    })
})
