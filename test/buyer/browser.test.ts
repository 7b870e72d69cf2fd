/** The library runs in a browser as it stands: no built-in of Node, no server code, small at first, and it buys there. */
import { gzipSync } from "node:zlib"
import { Effect, Layer } from "effect"
import { build, type BuildOptions } from "esbuild"
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"
import { inject } from "vitest"
import { LocalChain } from "../../src/sandbox/LocalChain.ts"
import { authorizationsUsed } from "../lab/buyer/LibraryBuyer.ts"
import { Browser } from "../lab/browser/Browser.ts"
import { serve } from "../lab/proxy/HttpServer.ts"
import { layer as world, TestServer } from "../lab/Fixture.ts"
import { assert, assertNone, describe, it, suite } from "../lab/Suites.ts"

const root = new URL("../..", import.meta.url).pathname
const library = `${root}src/buyer/index.ts`

const bundle = (contents: string, options: BuildOptions) =>
  build({
    ...options,
    stdin: { contents, resolveDir: root, loader: "ts" },
    bundle: true,
    minify: true,
    platform: "browser",
    target: "es2023",
    write: false,
    metafile: true,
    logLevel: "error",
  })

/** The first files of a page, and the further files of a payment, gzipped. */
const bounds = { entry: 4 * 1024, whole: 350 * 1024 }

describe("the bundle", () => {
  it("contains nothing of Node or the server, and is small before the first payment", async () => {
    const { metafile, outputFiles } = await bundle(`export * from ${JSON.stringify(library)}`, {
      format: "esm",
      splitting: true,
      outdir: "dist",
    })
    const inputs = Object.keys(metafile.inputs)
    assertNone(inputs, (file) => /^src\/(?!buyer\/)|^test\//u.test(file))
    /** The files that an output loads, at once or on demand; esbuild also writes chunks that no output loads. */
    const loadedBy = (name: string, kinds: ReadonlyArray<string>, seen = new Set<string>()): ReadonlySet<string> => {
      seen.add(name)
      for (const { kind, path } of metafile.outputs[name]?.imports ?? []) {
        if (kinds.includes(kind) && !seen.has(path)) loadedBy(path, kinds, seen)
      }
      return seen
    }
    const entry = Object.entries(metafile.outputs).find(([, { entryPoint }]) => entryPoint === "<stdin>")?.[0] ?? ""
    const atOnce = loadedBy(entry, ["import-statement"])
    const whole = loadedBy(entry, ["import-statement", "dynamic-import"])
    const external = [...whole].flatMap((name) => metafile.outputs[name]?.imports.filter((one) => one.external) ?? [])
    assert.deepStrictEqual(external, [])
    const textOf = (name: string) => outputFiles.find(({ path }) => path.endsWith(name))?.text ?? ""
    for (const name of whole) assert.notMatch(textOf(name), /(?:from|import\(|require\()\s*["']node:/u, name)
    const weigh = (names: Iterable<string>) => [...names].reduce((sum, name) => sum + gzipSync(textOf(name)).length, 0)
    const sizes = { entry: weigh(atOnce), whole: weigh(whole) }
    assert.isAbove(sizes.entry, 0)
    assert.isBelow(sizes.entry, bounds.entry)
    assert.isBelow(sizes.whole, bounds.whole)
  })
})

interface Library {
  readonly [name: string]: (...args: ReadonlyArray<unknown>) => Promise<Record<string, unknown>>
}

const stage = Layer.merge(world(), Browser.layer)

describe.skipIf(inject("browser") === "")("in a browser,", () => {
  suite("the library", stage, (it) => {
    it("seals, verifies, buys and reveals on a page of another host, and remembers over a reload", function* () {
      const { outputFiles } = yield* Effect.promise(() =>
        bundle(`export * from ${JSON.stringify(library)}; export { privateKeyToAccount } from "viem/accounts"`, {
          format: "iife",
          globalName: "altar",
        }),
      )
      const script = outputFiles[0]?.text ?? ""
      const elsewhere = yield* serve(async (path) =>
        path === "/altar.js"
          ? { status: 200, body: script, type: "text/javascript" }
          : {
              status: 200,
              body: `<!doctype html><title>Elsewhere</title><script src="/altar.js"></script>`,
              type: "text/html",
            },
      )
      const chain = yield* LocalChain
      const secret = generatePrivateKey()
      const { address } = privateKeyToAccount(secret)
      yield* Effect.orDie(chain.fund(address, 100_000n))
      const { url } = yield* TestServer
      const chromium = yield* Browser
      const page = yield* Effect.acquireRelease(
        Effect.promise(() => chromium.newPage()),
        (opened) => Effect.promise(() => opened.close()),
      )
      const outcome = yield* Effect.promise(async () => {
        await page.goto(`${elsewhere}/`)
        const bought = await page.evaluate(
          async ([url, secret]) => {
            const altar: Library = Reflect.get(window, "altar")
            const sealed = await altar["seal"]?.("The heron will return by May.", "salt-of-sixteen-or-more")
            const options = {
              url,
              account: altar["privateKeyToAccount"]?.(secret),
              journal: altar["browserJournal"]?.(),
            }
            const shop = altar["buyer"]?.(options) as unknown as Library
            const stone = await shop["witness"]?.({
              words: sealed?.["words"],
              salt: sealed?.["salt"],
              key: "page-purchase-1",
            })
            const chain = await (await fetch(`${url}/api/witness/chain`)).json()
            return {
              commitment: sealed?.["commitment"],
              stone,
              single: await altar["verifyStone"]?.(stone?.["record"], sealed),
              segment: await altar["verifySegment"]?.(chain),
            }
          },
          [url, secret] as const,
        )
        await page.reload()
        const revealed = await page.evaluate(
          async ([url, id]) => {
            const altar: Library = Reflect.get(window, "altar")
            const shop = altar["buyer"]?.({ url, journal: altar["browserJournal"]?.() }) as unknown as Library
            const again = await shop["witness"]?.({ words: "The heron will return by May.", key: "page-purchase-1" })
            return { again, revealed: await shop["reveal"]?.(id) }
          },
          [url, JSON.parse(JSON.stringify(bought.stone)).record.id] as const,
        )
        return JSON.parse(JSON.stringify({ ...bought, ...revealed }))
      })
      assert.strictEqual(outcome.stone.record.commitment, outcome.commitment)
      assert.deepStrictEqual(outcome.single, { ok: true })
      assert.strictEqual(outcome.segment.ok, true)
      assert.deepStrictEqual([outcome.again.replayed, outcome.again.record], [true, outcome.stone.record])
      assert.strictEqual(outcome.revealed.stone.reveal.text, "The heron will return by May.")
      assert.strictEqual(yield* authorizationsUsed({ account: { address } }), 1)
    })
  })
})
