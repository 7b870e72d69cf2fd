/** Texts take their prices from the sales: a server whose acts cost several times as much names no old price anywhere. */
import { afterAll, assert, describe, it, vi } from "../lab/It.ts"
import { Effect } from "effect"
import type * as Sale from "../../schema/payments/Sale.ts"
import { filesIn, textOf } from "../lab/Sources.ts"

/** Acts of one price today may have several tomorrow. */
const times = (title: string) => (title === "Set a witness stone" ? 5n : 7n)

/** Prices of today, in words and figures; the cap for routes that are not listed is no price. */
const old = /\bone[ -]cent\b|(?<!["'@]|quot;)\$(?:0\.01|1\.00|3\.00|9\.00|9|3)(?![\d.])/iu
const cap = /Never pay more than \$0\.01 on a route that is not listed\./gu

const literals = filesIn(["src/pages"]).flatMap((file) =>
  [...textOf(file).matchAll(/["`](\/(?:[a-z0-9_.-]+\/?)*)["`]/giu)].map(([, path = ""]) => path),
)

describe("a changed price", () => {
  afterAll(() => {
    vi.doUnmock("../../schema/payments/Sale.ts")
    vi.resetModules()
  })

  it.live("changes every page and document", function* () {
    vi.resetModules()
    vi.doMock("../../schema/payments/Sale.ts", async (original) => {
      const real = await original<typeof Sale>()
      const paid = (endpoint: Parameters<typeof real.paid>[0], terms: Sale.SaleTerms) =>
        real.paid(endpoint, { ...terms, priceAtomic: terms.priceAtomic * times(terms.title) })
      return { ...real, paid }
    })
    const { ask, post, TestServer, world } = yield* Effect.promise(() => import("../lab/Fixture.ts"))
    yield* Effect.gen(function* () {
      const { url } = yield* TestServer
      const call = { jsonrpc: "2.0", id: 1, method: "initialize", params: { protocolVersion: "2025-06-18" } }
      const documents = [
        "/llms.txt",
        "/for-agents",
        "/.well-known/agent.json",
        "/.well-known/x402",
        "/v2/spirits/moss-hare",
      ]
      const { json } = yield* ask(`${url}/openapi.json`)
      const texts = new Map<string, string>([
        ["/openapi.json", JSON.stringify(json["info"])],
        ["/mcp", (yield* ask(`${url}/mcp`, post(call))).text],
      ])
      for (const path of new Set([...literals, ...documents, "/api/elements", "/api/candles"])) {
        const { status, text } = yield* ask(`${url}${path}`, { headers: { accept: "text/html, */*;q=0.5" } })
        // Examples of answers have prices of their own.
        if (status === 200 && !/^\/(?:docs|openapi)/u.test(path)) texts.set(path, text.replaceAll(cap, ""))
      }
      assert.isAbove(texts.size, 20)
      for (const [path, text] of texts)
        assert.isNull(new RegExp(`.{0,60}(?:${old.source}).{0,40}`, "iu").exec(text), path)
      for (const path of [
        "/v2/",
        "/v2/stone",
        "/verify",
        "/llms.txt",
        "/.well-known/agent.json",
        "/openapi.json",
        "/mcp",
      ])
        assert.include(texts.get(path), "$0.05", path)
      // Its sentence is about stones and prayers, its example about a stone.
      assert.match(texts.get("/v2/") ?? "", /Seal your words for [^.]*\$0\.05 or \$0\.07/u)
      assert.match(texts.get("/v2/") ?? "", /\$0\.05<\/span> records the commitment/u)
      assert.include(texts.get("/v2/spirits/moss-hare"), "$0.07")
      assert.include(texts.get("/llms.txt"), "$63.00")
    }).pipe(Effect.provide(world()), Effect.scoped)
  })
})
