/** The library runs in a browser as it stands: no built-in of Node, no server code, small at first, and it buys there. */
import { join } from "node:path"
import { gzipSync } from "node:zlib"
import { assert, describe, it, layer } from "../lab/It.ts"
import { Effect, Layer } from "effect"
import { build } from "esbuild"
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"
import { LocalChain } from "../../src/sandbox/LocalChain.ts"
import { authorizationsUsed } from "../lab/buyer/LibraryBuyer.ts"
import { Browser, hasBrowser } from "../lab/browser/Browser.ts"
import { pageElsewhere } from "../lab/browser/Elsewhere.ts"
import { realClock, TestServer, world } from "../lab/Fixture.ts"
import { assertNone } from "../lab/Assertions.ts"
import { root } from "../lab/Sources.ts"

const library = join(root, "src/buyer/index.ts")

/** The first files of a page, and the further files of a payment, gzipped. */
const bounds = { entry: 4 * 1024, whole: 350 * 1024 }

describe("the bundle", () => {
  it("contains nothing of Node or the server, and is small before the first payment", async () => {
    const { metafile, outputFiles } = await build({
      entryPoints: [library],
      bundle: true,
      minify: true,
      platform: "browser",
      target: "es2023",
      format: "esm",
      splitting: true,
      outdir: "dist",
      write: false,
      metafile: true,
      logLevel: "error",
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
    const entry =
      Object.entries(metafile.outputs).find(([, { entryPoint }]) => entryPoint === "src/buyer/index.ts")?.[0] ?? ""
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

/** A page's own program, which buys and reveals with the library. */
const program = `
import { browserJournal, buyer, seal, verify } from ${JSON.stringify(library)}
import { privateKeyToAccount } from "viem/accounts"
const [words, key, journal] = ["The heron will return by May.", "page-purchase-1", browserJournal()]
export const buys = async ([url, secret]) => {
  const sealed = await seal(words, "salt-of-sixteen-or-more")
  const altar = buyer({ url, account: privateKeyToAccount(secret), journal })
  const { record } = await altar.witness({ words, salt: sealed.salt, key })
  const segment = await verify(url + "/api/witness/chain")
  return { commitment: sealed.commitment, record, single: await verify(record, { sealed }), segment }
}
export const fills = async () => {
  const text = localStorage.getItem("spirit-altar:purchase/" + key)
  const filler = (at) => {
    const purchase = JSON.parse(text.replaceAll(key, "filler-purchase-" + at))
    const begunAt = new Date(Date.UTC(2026, 0, 1, 0, 0, at)).toISOString()
    const payment = { ...purchase.payment, signedAt: begunAt }
    localStorage.setItem("spirit-altar:purchase/" + purchase.key, JSON.stringify({ ...purchase, payment, begunAt }))
  }
  for (const write of [filler, (at) => localStorage.setItem("other" + at, "x"), (at) => localStorage.setItem("o" + at, "")])
    try { for (let at = 0; ; at += 1) write(at) } catch {}
  return Object.keys(localStorage).filter((name) => name.includes("filler")).length
}
export const buysMore = async ([url, secret]) => {
  const altar = buyer({ url, account: privateKeyToAccount(secret), journal })
  const unrevealed = await altar.witness({ words: "Only here." })
  const last = await altar.witness({ words })
  await altar.forget(key).catch(() => {})
  return { last, unrevealed, names: Object.keys(localStorage).filter((name) => name.includes("purchase")) }
}
export const reveals = async ([url, id]) => {
  const altar = buyer({ url, journal })
  return { again: await altar.witness({ words, key }), revealed: await altar.reveal(id) }
}`

describe.skipIf(!hasBrowser)("in a browser,", () => {
  layer(Layer.merge(world(), Browser.layer), realClock)("the library", (it) => {
    it.effect("seals, verifies, buys and reveals on a page of another host, and remembers over a reload", function* () {
      const { url } = yield* TestServer
      const { call, page } = yield* pageElsewhere(program)
      const chain = yield* LocalChain
      const secret = generatePrivateKey()
      const { address } = privateKeyToAccount(secret)
      yield* Effect.orDie(chain.fund(address, 100_000n))
      const bought = yield* call("buys", [url, secret])
      assert.strictEqual(bought.record.commitment, bought.commitment)
      assert.deepStrictEqual([bought.single.ok, bought.segment.ok], [true, true])
      yield* Effect.promise(() => page.reload())
      const { again, revealed } = yield* call("reveals", [url, bought.record.id])
      assert.deepStrictEqual([again.replayed, again.record], [true, bought.record])
      assert.strictEqual(revealed.stone.reveal.text, "The heron will return by May.")
      assert.strictEqual(yield* authorizationsUsed({ account: { address } }), 1)
      // The origin's storage is full: the oldest purchases that may go make room.
      const fillers: number = yield* call("fills")
      assert.isAbove(fillers, 100)
      const { last, names, unrevealed } = yield* call("buysMore", [url, secret])
      for (const { key } of [last, unrevealed]) assert.include(names, `spirit-altar:purchase/${key}`)
      assert.isBelow(names.filter((name: string) => name.includes("filler")).length, fillers)
      assert.notInclude(names, "spirit-altar:purchase/filler-purchase-0")
      assert.notInclude(names, "spirit-altar:purchase/page-purchase-1")
    })
  })
})
