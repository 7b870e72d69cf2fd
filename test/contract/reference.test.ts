/** The reference of the API: small, without script of others, and every example on it does what it says. */
import { execFile } from "node:child_process"
import { promisify } from "node:util"
import { gzipSync } from "node:zlib"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { commands } from "../../src/pages/reference/Examples.ts"
import { sales } from "../../schema/altar/Sales.ts"
import { terminal } from "../support/Cli.ts"
import { patience } from "../support/Patience.ts"
import { ask, World, layer as world } from "../support/World.ts"

const shell = promisify(execFile)

const unescaped = (text: string) =>
  text
    .replaceAll("&quot;", '"')
    .replaceAll("&#39;", "'")
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&amp;", "&")

/** The samples of one kind, by the operation they belong to. */
const samplesIn = (text: string, kind: string) =>
  [...text.matchAll(new RegExp(`<code id="(\\w+)-${kind}">([^<]*)</code>`, "gu"))].map(
    ([, id = "", sample = ""]) => [id, unescaped(sample)] as const,
  )

const docs = Effect.gen(function* () {
  const { url } = yield* World
  return (yield* ask(`${url}/docs`)).text
})

layer(world(), { excludeTestServices: true })("the reference of the API", (it) => {
  it.effect("is small, and runs nothing that does not come from here", () =>
    Effect.gen(function* () {
      const { url } = yield* World
      const { headers, text } = yield* ask(`${url}/docs`)
      assert.isBelow(gzipSync(text).length, 60_000)
      assert.notInclude(headers.get("content-security-policy") ?? "", "unsafe")
      assert.match(text, /<html lang="en">/u)
      assert.notMatch(text, /<script(?![^>]*\ssrc=")|\sstyle="|\son\w+="/u)
    }),
  )

  it.effect("has every operation, with an example of curl and one of TypeScript", () =>
    Effect.gen(function* () {
      const { url } = yield* World
      const { json } = yield* ask(`${url}/openapi.json`)
      const paths = json["paths"]
      assert.isObject(paths)
      const ids = [...JSON.stringify(paths).matchAll(/"operationId":"(\w+)"/gu)].map(([, id]) => id).sort()
      const text = yield* docs
      for (const kind of ["curl", "typescript"]) {
        assert.deepStrictEqual(
          samplesIn(text, kind)
            .map(([id]) => id)
            .sort(),
          ids,
          kind,
        )
      }
    }),
  )

  it.effect(
    "shows curl what is understood: reads are answered, and what is sold is offered",
    () =>
      Effect.gen(function* () {
        const paid = new Set(sales.map(({ sale }) => sale.name))
        for (const [id, sample] of samplesIn(yield* docs, "curl")) {
          const { stdout } = yield* Effect.promise(() =>
            shell("bash", ["-c", `${sample} -o /dev/null -w '%{http_code}'`]),
          )
          const status = Number(stdout.trim().slice(-3))
          if (paid.has(id)) assert.strictEqual(status, 402, `${id}: ${sample}`)
          // What an example names need not exist here; a room's token is the reader's.
          else assert.include([200, 201, 401, 404], status, `${id}: ${sample}`)
        }
      }),
    patience(60),
  )

  it.effect(
    "shows commands that the command line has, and that buy what they say",
    () =>
      Effect.gen(function* () {
        const at = yield* terminal
        const samples = samplesIn(yield* docs, "command")
        assert.sameMembers(
          samples.map(([id]) => id),
          [...Object.keys(commands), ...sales.map(({ sale }) => sale.name)],
        )
        const [, prayer = ""] = samples.find(([id]) => id === "offerPrayer") ?? []
        const words = prayer.replaceAll("\\\n", "").split(" --url ")[0] ?? ""
        const args = [...words.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/gu)].map(
          ([, one, two, three]) => one ?? two ?? three ?? "",
        )
        const bought = yield* at.run([...args.slice(1), "--json"])
        assert.strictEqual(bought.code, 0, bought.stderr)
        assert.isString(JSON.parse(bought.stdout).record.id)
      }),
    patience(120),
  )
})
