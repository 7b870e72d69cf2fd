/** The reference of the API: small, without script of others, and every example on it does what it says. */
import { execFile } from "node:child_process"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { promisify } from "node:util"
import { gzipSync } from "node:zlib"
import { assert, layer } from "../lab/It.ts"
import { Effect } from "effect"
import { sales } from "../../schema/altar/Sales.ts"
import { buy } from "../lab/buyer/Purchase.ts"
import { terminal } from "../lab/Terminal.ts"
import { ask, newPayer, realClock, TestServer, world } from "../lab/Fixture.ts"
import { document, operations } from "../lab/OpenApi.ts"
import { unescaped, textOf } from "../lab/Sources.ts"

const shell = promisify(execFile)

/** The samples of one kind, by the operation they belong to. */
const samplesIn = (text: string, kind: string) =>
  [...text.matchAll(new RegExp(`<code id="(\\w+)-${kind}">([^<]*)</code>`, "gu"))].map(
    ([, id = "", sample = ""]) => [id, unescaped(sample)] as const,
  )

/** The arguments of curl, after the shell's substitutions. */
const calledWith = Effect.fnUntraced(function* (sample: string) {
  const { stdout } = yield* Effect.promise(() => shell("bash", ["-c", `curl() { printf '%s\\n' "$@"; }\n${sample}`]))
  const words = stdout.split("\n")
  const after = (flag: string) => words[words.indexOf(flag) + 1] ?? ""
  const key = words.find((word) => word.startsWith("Idempotency-Key: "))?.split(": ")[1] ?? ""
  const { pathname, search } = new URL(words[1] ?? "")
  return { path: pathname + search, key, body: words.includes("-d") ? after("-d") : "{}" }
})

const statusOf = (sample: string) =>
  Effect.map(
    Effect.promise(() => shell("bash", ["-c", `${sample} -o /dev/null -w '%{http_code}'`])),
    ({ stdout }) => Number(stdout.trim().slice(-3)),
  )

/** Where a package of the samples stands in this checkout. */
const installed = (name: string) => {
  const own = { "spirit-altar": "buyer/index.ts", "spirit-altar/journal": "cli/buyer/JournalFile.ts" }[name]
  return own === undefined ? import.meta.resolve(name) : new URL(`../../src/${own}`, import.meta.url).href
}

const docs = Effect.gen(function* () {
  const { url } = yield* TestServer
  return (yield* ask(`${url}/docs`)).text
})

layer(world(), realClock)("the reference of the API", (it) => {
  it.effect("is small", function* () {
    assert.isBelow(gzipSync(yield* docs).length, 60_000)
  })

  it.effect("is built from the document, which is served unchanged and names its own server", function* () {
    const { url } = yield* TestServer
    const { status, text } = yield* ask(`${url}/openapi.json`)
    assert.strictEqual(status, 200)
    const written = textOf("schema/openapi.json").replaceAll("https://altar.example", url)
    assert.deepStrictEqual(JSON.parse(text), JSON.parse(written))
    const { info, openapi, servers } = JSON.parse(text)
    assert.deepStrictEqual([servers[0].url, openapi, info.version], [url, "3.1.0", "0.15.0"])
  })

  it.effect("has an example of each operation, each purchase in each language, and a body's exact form", function* () {
    const ids = operations.map(({ operationId }) => operationId)
    const paid = sales.map(({ sale }) => sale.name)
    const text = yield* docs
    const shown = (kind: string) => samplesIn(text, kind).map(([id]) => id)
    assert.sameMembers(shown("curl"), ids)
    assert.sameMembers(shown("typescript"), paid)
    assert.include(text.replaceAll(/<\/?code>/gu, "`"), "text, 64 characters, matching `^[0-9a-f]{64}$`")
  })

  it.effect("shows curl commands that work and can be repeated: each run has its own key and salt", function* () {
    const paid = new Set<string>(sales.map(({ sale }) => sale.name))
    const payer = yield* newPayer(20_000_000n)
    const isShown = Effect.fnUntraced(function* ([id, sample]: readonly [string, string]) {
      const status = yield* statusOf(sample)
      // The names in an example need not exist here; a room's token is the reader's.
      if (!paid.has(id)) return assert.include([200, 201, 401, 404], status, `${id}: ${sample}`)
      assert.strictEqual(status, 402, `${id}: ${sample}`)
      const told = yield* calledWith(sample)
      const again = yield* calledWith(sample)
      assert.match(told.key, /^[A-Za-z0-9_-]{12,128}$/u, id)
      assert.notStrictEqual(told.key, again.key, id)
      if (told.body.includes("ommitment")) assert.notStrictEqual(told.body, again.body, id)
      // A prayer of the day and a keeper may be taken here.
      if (sales.some(({ sale }) => sale.name === id && sale.repetition !== "often")) return
      yield* buy(told.path, JSON.parse(told.body), { payer, key: told.key })
      assert.strictEqual(yield* statusOf(sample), 402, id)
    })
    yield* Effect.forEach(samplesIn(yield* docs, "curl"), isShown, { concurrency: 4, discard: true })
  })

  it.effect("shows TypeScript that buys with the library", function* () {
    const { folder, secret } = yield* terminal
    const samples = new Map(samplesIn(yield* docs, "typescript"))
    const run = (id: string, print: string) => {
      const program = `${samples.get(id)?.replaceAll(/from "([^"]+)"/gu, (_, name: string) => `from "${installed(name)}"`)}\n${print}`
      const file = join(folder, `${id}.ts`)
      writeFileSync(file, program)
      const env = { ...process.env, PRIVATE_KEY: secret }
      return Effect.promise(() => shell(process.execPath, [file], { cwd: folder, env }))
    }
    const bought = yield* run("setWitnessStone", "console.log(record.sequence, receipt.amountAtomic)")
    assert.match(bought.stdout.trim(), /^\d+ 10000$/u)
  })

  it.effect("lists each code under the anchor that its body links, with its documented remedy", function* () {
    const { url } = yield* TestServer
    const refused = yield* ask(`${url}/api/witness/6f1c2d3e-4b5a-4c7d-8e9f-0a1b2c3d4e5f`)
    assert.strictEqual(refused.json.docs, "/docs/errors#witness_not_found")
    const list = (yield* ask(`${url}/docs/errors`)).text
    const refusals = Object.values(document.components.schemas).flatMap(({ properties = {} }) => [
      properties,
      properties["error"]?.properties ?? {},
    ])
    const remedied = refusals.flatMap(({ code, message }) => {
      const [name, said] = [code?.enum?.[0], message?.examples?.[0]]
      return typeof name === "string" && typeof said === "string" && name !== "settlement_pending" ? [[name, said]] : []
    })
    assert.isAbove(remedied.length, 40)
    for (const [code = "", said = ""] of remedied) {
      const [, entry = ""] = list.split(` id="${code}">`)
      assert.include(unescaped(entry.split("</article>")[0] ?? ""), said, code)
    }
    assert.match(yield* docs, /href="\/docs\/errors#witness_ceiling_today"/u)
    const old = yield* ask(`${url}/docs/errors/not_found`, { redirect: "manual" })
    assert.deepStrictEqual([old.status, old.headers.get("location")], [308, "/docs/errors#not_found"])
  })
})
