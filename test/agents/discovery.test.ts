/** No document promises what the live 402 does not: price, network, asset, recipient and URL of every act agree. */
import { assert, layer } from "../lab/It.ts"
import { Effect } from "effect"
import { acts } from "../lab/ActTable.ts"
import { challengeOf } from "../lab/buyer/Payment.ts"
import { assertAnswer, valuesOf } from "../lab/Assertions.ts"
import { connect } from "../lab/McpClient.ts"
import { textOf } from "../lab/Sources.ts"
import { ask, newKey, post, read, realClock, TestServer, world, anotherServer } from "../lab/Fixture.ts"

const documents = ["/.well-known/mcp/server-card.json", "/.well-known/agent.json", "/.well-known/x402"]

interface PaidOperation {
  readonly operationId: string
  readonly "x-payment-info"?: {
    readonly price: { readonly amount: string }
    readonly offers: ReadonlyArray<{ readonly amount: string }>
  }
}

const paidIn = (paths: Readonly<Record<string, { readonly post?: PaidOperation }>>) =>
  Object.values(paths).flatMap(({ post }) => (post?.["x-payment-info"] === undefined ? [] : [post]))

const usd = (amountAtomic: string) => (Number(amountAtomic) / 1_000_000).toFixed(2)

layer(world(), realClock)("the documents for agents", (it) => {
  it.effect("name every paid act and nothing else, and agree with its live 402", function* () {
    const { url } = yield* TestServer
    const { payment, actions, buyerSpendPolicy } = yield* read("/.well-known/agent.json")
    const { paths } = yield* read("/openapi.json")
    const { resources } = yield* read("/.well-known/x402")
    const manuals = yield* Effect.forEach(["/llms.txt", "/for-agents"], (path) => ask(`${url}${path}`))
    for (const act of acts()) {
      const action = actions.find(({ name }: { name: string }) => name === act.name)
      const example: string = action.example
      const probe = yield* ask(example, { method: "POST" })
      assert.strictEqual(probe.status, 402, example)
      const { accepts, resource } = challengeOf(probe)
      const [offer] = accepts
      assert.strictEqual(resource.url, example)
      assert.strictEqual(offer.amount, act.price)
      assert.strictEqual(action.amountAtomic, offer.amount)
      assert.strictEqual(action.priceUsd, `$${usd(offer.amount)}`)
      assert.deepInclude(payment, { network: offer.network, asset: offer.asset, payTo: offer.payTo })
      const info = paidIn(paths).find(({ operationId }) => operationId === act.name)?.["x-payment-info"]
      assert.strictEqual(info?.offers[0]?.amount, offer.amount)
      assert.strictEqual(info?.price.amount, usd(offer.amount))
      assert.include(valuesOf<{ url: string }, "url">(resources, "url"), example)
      for (const { text } of manuals) {
        const row = text.split(/\n|<tr>/u).find((line) => line.includes(act.name) && line.includes(action.route ?? ""))
        for (const fact of [offer.amount, `$${usd(offer.amount)}`]) assert.include(row, fact, act.name)
        for (const fact of [offer.network, offer.asset, offer.payTo]) assert.include(text, fact, act.name)
      }
    }
    assert.includeMembers(
      buyerSpendPolicy.perAction.map((action: object) => Object.values(action).join(" ")),
      [
        "offerPrayer POST /api/prayers/{spirit-id} $0.01 10000",
        "takeIn POST /api/acquire/{spirit-id} $0.01 10000",
        "collectMaterial POST /api/elements/{id}/collect $0.01 10000",
        "lightVotiveCandle POST /api/candles/day/{spirit-id} $1.00 1000000 1",
        "lightVotiveCandle POST /api/candles/week/{spirit-id} $3.00 3000000 7",
        "lightVotiveCandle POST /api/candles/month/{spirit-id} $9.00 9000000 30",
        "setWitnessStone POST /api/witness $0.01 10000",
      ],
    )
    const names = acts().map(({ name }) => name)
    assert.sameMembers(valuesOf<{ name: string }, "name">(actions, "name"), names)
    assert.sameMembers(valuesOf(paidIn(paths), "operationId"), names)
  })

  it.effect("return 304 when nothing changed, and 405 to a POST", function* () {
    const { url } = yield* TestServer
    for (const path of [...documents, "/llms.txt", "/for-agents"]) {
      const first = yield* ask(`${url}${path}`)
      const etag = first.headers.get("etag") ?? ""
      const again = yield* ask(`${url}${path}`, { headers: { "if-none-match": etag } })
      assert.deepStrictEqual([again.status, again.text], [304, ""], path)
      const head = yield* ask(`${url}${path}`, { method: "HEAD" })
      assert.deepStrictEqual([head.status, head.text, head.headers.get("etag")], [200, "", etag], path)
      const posted = yield* ask(`${url}${path}`, { method: "POST" })
      assert.deepStrictEqual([posted.status, posted.headers.get("allow")], [405, "GET, HEAD, OPTIONS"], path)
    }
  })

  it.effect("show the manual as a page, or as the Markdown of llms.txt", function* () {
    const { url } = yield* TestServer
    const page = yield* ask(`${url}/for-agents`, { headers: { accept: "text/html,*/*;q=0.8" } })
    assert.strictEqual(page.headers.get("content-type"), "text/html; charset=utf-8")
    assert.strictEqual(page.headers.get("vary"), "accept, accept-encoding")
    assert.notInclude(page.text, "`", "every backtick became markup")
    const ids = [...page.text.matchAll(/ id="([^"]+)"/gu)].map((match) => match[1])
    for (const [, target] of page.text.matchAll(/href="#([^"]+)"/gu)) assert.include(ids, target)
    const plain = yield* ask(`${url}/for-agents`, { headers: { accept: "text/markdown, text/html;q=0.9" } })
    assert.strictEqual(plain.headers.get("content-type"), "text/markdown; charset=utf-8")
    assert.notStrictEqual(plain.headers.get("etag"), page.headers.get("etag"))
    const llms = yield* ask(`${url}/llms.txt`)
    assert.strictEqual(llms.headers.get("content-type"), "text/plain; charset=utf-8")
    assert.strictEqual(llms.text, plain.text)
    assert.match(llms.text, /^# Spirit Altar\n\n> /u)
    // A test vector of the commitment recipe, whose words normalize: printf 'sixteen-chars-ok\0…' | sha256sum
    assert.include(llms.text, String.raw`" cafe\u0301\r\nat dawn\n"`)
    assert.include(llms.text, "8c05d8b5973b5e62760424aad46c8ee86ca4264924600a6fc6967d802c1fd2b4")
    for (const [, link = ""] of llms.text.matchAll(/\]\((http[^)]+)\)/gu)) {
      const status = (yield* ask(link)).status
      assert.strictEqual(status, link.endsWith("/mcp") ? 405 : 200, link)
    }
  })

  it.effect("begin with the README's first sentence, wherever an agent reads first", function* () {
    const { url } = yield* TestServer
    const [sentence = "none"] = /^Pay [^.]*\./mu.exec(textOf("README.md")) ?? []
    const { client } = yield* connect(`${url}/mcp`)
    const begins = {
      llms: (yield* ask(`${url}/llms.txt`)).text.replace(/^# Spirit Altar\n\n> /u, ""),
      manifest: (yield* read("/.well-known/agent.json")).description,
      card: (yield* read("/.well-known/mcp/server-card.json")).description,
      x402: (yield* read("/.well-known/x402")).description,
      openapi: (yield* read("/openapi.json")).info.description,
      instructions: client.getInstructions(),
    }
    for (const [name, text] of Object.entries(begins)) assert.isTrue(String(text).startsWith(`${sentence} `), name)
    assert.isAtMost(begins.card.length, 100)
  })

  it.effect("offer nothing while payments are not configured, as the paid routes say", function* () {
    const unpaid = yield* anotherServer({}, { payments: ["PAY_TO"] })
    const { text } = yield* ask(`${unpaid}/.well-known/agent.json`)
    const { payment } = JSON.parse(text)
    assert.deepInclude(payment, { enabled: false, missing: ["PAY_TO"] })
    assert.notProperty(payment, "payTo")
    assert.include((yield* ask(`${unpaid}/llms.txt`)).text, "not configured")
    for (const catalog of ["elements", "companions", "pixels"]) {
      const { json } = yield* ask(`${unpaid}/api/${catalog}`)
      assert.deepInclude(json["payment"], { enabled: false, state: "not_configured", missing: ["PAY_TO"] })
      assert.deepInclude(json["payment"], { recipientConfigured: false, issues: ["PAY_TO is not set"] })
    }
    assert.deepStrictEqual((yield* ask(`${unpaid}/api/candles`)).json["rails"], [])
    for (const path of ["/v2/spirits/moss-hare", "/v2/stone", "/v2/catalog"]) {
      const page = yield* ask(`${unpaid}${path}`, { headers: { accept: "text/html" } })
      assert.strictEqual(page.status, 200, path)
      assert.notMatch(page.text, /\sdata-pay[\s>]/u, path)
    }
    for (const { request } of acts()) {
      const { body = {}, path } = request()
      for (const init of [{ method: "POST" }, post(body, { "idempotency-key": newKey() })]) {
        const answer = yield* ask(`${unpaid}${path}`, init)
        assertAnswer(answer, 503, "payments_unavailable")
        assert.isNull(answer.headers.get("retry-after"), "no time is known")
      }
    }
  })
})
