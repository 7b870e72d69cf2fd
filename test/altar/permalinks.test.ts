/** Permalinks: one address, a page for people, the record for programs, and every value of a page escaped. */
import { existsSync } from "node:fs"
import { assert, describe, it as plain, layer } from "../lab/It.ts"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { spirits } from "../../src/altar/Spirits.ts"
import { usdcOn } from "../../schema/payments/Usdc.ts"
import { usdc } from "../../schema/payments/Usdc.ts"
import { html } from "../../src/platform/Html.ts"
import { createActs, sandbox } from "../lab/browser/Guide.ts"
import { ask, realClock, TestServer } from "../lab/Fixture.ts"

layer(sandbox(), realClock)("the pages", (it) => {
  it.effect("answer with a page, the record, or neither, as requested", function* () {
    const { url } = yield* TestServer
    const { kept, stone } = yield* createActs
    for (const [path, api] of [
      [`/acts/${kept.id}`, `/api/acts/${kept.id}`],
      [`/acts/${stone.id}`, `/api/acts/${stone.id}`],
      [`/witness/${stone.id}`, `/api/witness/${stone.id}`],
    ] as const) {
      const page = yield* ask(`${url}${path}`, { headers: { accept: "text/html,application/xhtml+xml,*/*;q=0.8" } })
      assert.deepStrictEqual([page.status, page.headers.get("content-type")], [200, "text/html; charset=utf-8"])
      assert.include(
        (page.headers.get("vary") ?? "").toLowerCase().split(", "),
        "accept",
        "either form is cached apart",
      )
      assert.include(page.text, `<meta property="og:url" content="${url}${path}"`)

      const record = yield* ask(`${url}${path}`, { headers: { accept: "application/json" } })
      const known = yield* ask(`${url}${api}`)
      assert.deepStrictEqual([record.status, record.text], [200, known.text])
      const again = yield* ask(`${url}${path}`, {
        headers: { accept: "application/json", "if-none-match": record.headers.get("etag") ?? "" },
      })
      assert.strictEqual(again.status, 304)

      const neither = yield* ask(`${url}${path}`, { headers: { accept: "image/png" } })
      assert.deepStrictEqual([neither.status, neither.json["code"]], [406, "not_acceptable"])
    }
    const only = yield* ask(`${url}/witness/${stone.id}`, { headers: { accept: "text/html" } })
    assert.notMatch(only.text, /rel="(?:prev|next)"/u, "no stone is beside the only one")
    const { json } = yield* ask(`${url}/api/acts/${kept.id}`)
    const { receipt } = JSON.parse(JSON.stringify(json["act"]))
    const transaction = `${url}/sandbox/transactions/${receipt.transaction}`
    assert.strictEqual((yield* ask(transaction)).json["ok"], true)
  })

  it.effect("answer in the requested form that nothing is there", function* () {
    const { url } = yield* TestServer
    for (const [path, code] of [
      ["/acts/00000000-0000-4000-8000-000000000000", "act_not_found"],
      ["/acts/nothing", "act_not_found"],
      ["/witness/00000000-0000-4000-8000-000000000000", "witness_not_found"],
      ["/witness/%27%3B--", "witness_not_found"],
    ] as const) {
      const page = yield* ask(`${url}${path}`, { headers: { accept: "text/html" } })
      assert.strictEqual(page.status, 404)
      assert.include(page.text, "Page not found")
      const record = yield* ask(`${url}${path}`, { headers: { accept: "application/json" } })
      assert.deepStrictEqual([record.status, record.json["code"]], [404, code])
    }
    for (const path of ["/v2/nowhere", "/signals/nowhere", "/nowhere.html"]) {
      const page = yield* ask(`${url}${path}`, { headers: { accept: "text/html,*/*;q=0.8" } })
      assert.deepStrictEqual([page.status, page.text.includes("No page has this address.")], [404, true], path)
      assert.match(page.headers.get("content-security-policy") ?? "", /^default-src 'none'/u)
      const record = yield* ask(`${url}${path}`)
      assert.deepStrictEqual([record.status, record.json["code"]], [404, "not_found"])
    }
    const api = yield* ask(`${url}/api/nowhere`, { headers: { accept: "text/html,*/*;q=0.8" } })
    assert.deepStrictEqual([api.status, api.json["code"]], [404, "not_found"])
    const spirit = yield* ask(`${url}/v2/spirits/unicorn`)
    assert.deepStrictEqual([spirit.status, spirit.text.includes("There is no such plate")], [404, true])
  })

  it.effect("report a chain that does not verify wherever they would show it", function* () {
    const { url } = yield* TestServer
    const sql = yield* SqlClient.SqlClient
    const { json } = yield* ask(`${url}/api/witness?limit=1`)
    const [stone] = JSON.parse(JSON.stringify(json["stones"]))
    yield* sql`UPDATE witness_stones SET commitment = ${"e".repeat(64)}`.pipe(Effect.orDie)
    for (const path of ["/v2/witness", "/v2/acts?q=1", `/witness/${stone.id}`]) {
      const page = yield* ask(`${url}${path}`, { headers: { accept: "text/html" } })
      assert.deepStrictEqual([page.status, page.headers.get("cache-control")], [500, "no-store"])
      assert.match(page.text, /The chain is broken[^]*witness stone [12] does not hash/u)
      assert.notInclude(page.text, "e".repeat(64))
    }
    const altar = yield* ask(`${url}/v2/spirits/${stone.spirit}`)
    assert.strictEqual(altar.status, 200)
    assert.match(altar.text, /The chain is broken\.[^]*Its stones are not shown until it is mended/u)
    assert.notInclude(altar.text, "e".repeat(64))
    const record = yield* ask(`${url}/witness/${stone.id}`, { headers: { accept: "application/json" } })
    assert.deepStrictEqual([record.status, record.json["code"]], [500, "chain_broken"])
    assert.strictEqual((yield* ask(`${url}/v2/`)).status, 200)
  })
})

describe("the templates of pages", () => {
  plain("escape every value, in text and in attributes", () => {
    const hostile = `<b a="x" c='y'>&`
    assert.strictEqual(
      html`<i title="${hostile}">${[hostile, html`<u>${1n}</u>`, null, undefined, false, 0]}</i>`.text,
      `<i title="&lt;b a=&quot;x&quot; c=&#39;y&#39;&gt;&amp;">&lt;b a=&quot;x&quot; c=&#39;y&#39;&gt;&amp;<u>1</u>0</i>`,
    )
  })

  plain("show the USDC that the server names, and a picture for every spirit and for stones", () => {
    assert.deepStrictEqual(
      Object.fromEntries(Object.keys(usdc).map((network) => [network, usdcOn(network)])),
      Object.fromEntries(Object.entries(usdc).map(([network, { asset }]) => [network, asset])),
    )
    for (const name of ["guide", "stones", ...spirits.map(({ id }) => id)]) {
      assert.isTrue(existsSync(new URL(`../../src/web/art/previews/${name}.png`, import.meta.url)), name)
    }
  })
})
