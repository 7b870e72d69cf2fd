/** No document promises what the live 402 does not: price, network, asset, recipient and URL of every act agree. */
import { Effect } from "effect"
import { sales } from "../../schema/altar/Sales.ts"
import { nameMaximum, senderMaximum, textMaximum } from "../../schema/room/Limits.ts"
import { acts } from "../lab/ActTable.ts"
import { ask, layer as world, TestServer } from "../lab/Fixture.ts"
import { challengeOf } from "../lab/buyer/Payment.ts"
import { anotherServer } from "../lab/server/AnotherServer.ts"
import { assert, assertEach, suite } from "../lab/Suites.ts"

const documents = ["/.well-known/mcp/server-card.json", "/.well-known/agent.json", "/.well-known/x402"]

interface Manifest {
  readonly payment: Record<string, unknown>
  readonly actions: ReadonlyArray<{
    readonly name: string
    readonly route: string
    readonly example: string
    readonly priceUsd: string
    readonly amountAtomic: string
    readonly days?: number
  }>
  readonly buyerSpendPolicy: { readonly perAction: ReadonlyArray<Record<string, unknown>> }
}

interface PaymentInfo {
  readonly price: { readonly amount: string }
  readonly offers: ReadonlyArray<{ readonly amount: string }>
}

interface Spec {
  readonly paths: Record<string, { readonly post?: { readonly operationId: string; "x-payment-info"?: PaymentInfo } }>
}

const read = <A>(path: string) =>
  Effect.flatMap(TestServer, ({ url }) =>
    Effect.map(ask(`${url}${path}`), ({ status, text }): A => {
      assert.strictEqual(status, 200, path)
      return JSON.parse(text)
    }),
  )

const usd = (amountAtomic: string) => (Number(amountAtomic) / 1_000_000).toFixed(2)

suite("the documents for agents", world(), (it) => {
  for (const act of acts()) {
    it(`agree with the live 402 of ${act.name}`, function* ({ url }) {
      const { payment, actions, buyerSpendPolicy } = yield* read<Manifest>("/.well-known/agent.json")
      const action = actions.find(({ name }) => name === act.name)
      const example = action?.example ?? ""
      const probe = yield* ask(example, { method: "POST" })
      assert.strictEqual(probe.status, 402, example)
      const { accepts, resource } = challengeOf(probe)
      const [offer] = accepts
      assert.strictEqual(resource.url, example)
      assert.strictEqual(offer.amount, act.price)
      assert.strictEqual(action?.amountAtomic, offer.amount)
      assert.strictEqual(action?.priceUsd, `$${usd(offer.amount)}`)
      assert.deepInclude(payment, { network: offer.network, asset: offer.asset, payTo: offer.payTo })
      const listed = buyerSpendPolicy.perAction.find(({ route }) => route === action?.route)
      const sold = sales.find(({ sale }) => sale.name === act.name)
      assert.deepInclude(listed, { action: sold?.sale.action, amountAtomic: offer.amount })

      const { paths } = yield* read<Spec>("/openapi.json")
      const info = Object.values(paths).find(({ post }) => post?.operationId === act.name)?.post?.["x-payment-info"]
      assert.strictEqual(info?.offers[0]?.amount, offer.amount)
      assert.strictEqual(info?.price.amount, usd(offer.amount))

      const { resources } = yield* read<{ resources: ReadonlyArray<{ url: string; method: string }> }>(
        "/.well-known/x402",
      )
      assert.deepInclude(
        resources.find((one) => one.url === example),
        { method: "POST" },
      )

      for (const path of ["/llms.txt", "/for-agents"]) {
        const { text } = yield* ask(`${url}${path}`)
        const row = text.split(/\n|<tr>/u).find((line) => line.includes(act.name) && line.includes(action?.route ?? ""))
        for (const fact of [offer.amount, `$${usd(offer.amount)}`]) assert.include(row, fact, path)
        for (const fact of [offer.network, offer.asset, offer.payTo]) assert.include(text, fact, path)
      }
    })
  }

  it("name every paid act and nothing else", function* () {
    const names = acts().map(({ name }) => name)
    const { actions } = yield* read<Manifest>("/.well-known/agent.json")
    assert.sameMembers(
      actions.map(({ name }) => name),
      names,
    )
    const { paths } = yield* read<Spec>("/openapi.json")
    const paid = Object.values(paths).flatMap(({ post }) =>
      post?.["x-payment-info"] === undefined ? [] : [post.operationId],
    )
    assert.sameMembers(paid, names)
  })

  it("point x402 crawlers at URLs that all ask to be paid", function* () {
    const { resources } = yield* read<{ resources: ReadonlyArray<{ url: string }> }>("/.well-known/x402")
    assert.strictEqual(new Set(resources.map(({ url }) => url)).size, resources.length)
    const answers = yield* Effect.forEach(resources, ({ url }) => ask(url, { method: "POST" }), { concurrency: 8 })
    assert.deepStrictEqual(
      answers.filter(
        (answer, index) => answer.status !== 402 || challengeOf(answer).resource.url !== resources[index]?.url,
      ),
      [],
    )
  })

  it("describe the MCP endpoints in a server card", function* ({ url }) {
    const card = yield* read<{ name: string; description: string; remotes: ReadonlyArray<Record<string, unknown>> }>(
      "/.well-known/mcp/server-card.json",
    )
    assert.match(card.name, /^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/u)
    assert.isAtMost(card.description.length, 100)
    assertEach(card.remotes, (remote) => remote["url"], [`${url}/mcp`, `${url}/api/mcp`])
    assert.notProperty(card, "tools")
  })

  it("return 304 when nothing changed, and are readable from every origin", function* ({ url }) {
    for (const path of [...documents, "/llms.txt", "/for-agents"]) {
      const first = yield* ask(`${url}${path}`, { headers: { origin: "https://elsewhere.example" } })
      assert.strictEqual(first.headers.get("access-control-allow-origin"), "*", path)
      const etag = first.headers.get("etag") ?? ""
      const again = yield* ask(`${url}${path}`, { headers: { "if-none-match": etag } })
      assert.deepStrictEqual([again.status, again.text], [304, ""], path)
      const head = yield* ask(`${url}${path}`, { method: "HEAD" })
      assert.deepStrictEqual([head.status, head.text, head.headers.get("etag")], [200, "", etag], path)
      const post = yield* ask(`${url}${path}`, { method: "POST" })
      assert.deepStrictEqual([post.status, post.headers.get("allow")], [405, "GET, HEAD, OPTIONS"], path)
    }
  })

  it("show the manual as a page with one script of its own, or as the Markdown of llms.txt", function* ({ url }) {
    const page = yield* ask(`${url}/for-agents`, { headers: { accept: "text/html,*/*;q=0.8" } })
    assert.strictEqual(page.headers.get("content-type"), "text/html; charset=utf-8")
    assert.strictEqual(page.headers.get("vary"), "accept, accept-encoding")
    assert.include(page.headers.get("content-security-policy"), "default-src 'none'")
    assert.notMatch(page.text, /<script(?![^>]*\ssrc="\/)|\sstyle=|\son[a-z]+=/u)
    assert.strictEqual(page.text.match(/<script/gu)?.length, 1)
    assert.notInclude(page.text, "`", "every backtick became markup")
    const style = /<link rel="stylesheet" href="([^"]+)"/u.exec(page.text)?.[1] ?? "none"
    assert.strictEqual((yield* ask(`${url}${style}`)).headers.get("content-type"), "text/css; charset=utf-8", style)
    const ids = [...page.text.matchAll(/ id="([^"]+)"/gu)].map((match) => match[1])
    for (const [, target] of page.text.matchAll(/href="#([^"]+)"/gu)) assert.include(ids, target)
    const plain = yield* ask(`${url}/for-agents`, { headers: { accept: "text/markdown, text/html;q=0.9" } })
    assert.strictEqual(plain.headers.get("content-type"), "text/markdown; charset=utf-8")
    assert.notStrictEqual(plain.headers.get("etag"), page.headers.get("etag"))
    const llms = yield* ask(`${url}/llms.txt`)
    assert.strictEqual(llms.headers.get("content-type"), "text/plain; charset=utf-8")
    assert.strictEqual(llms.text, plain.text)
    const file = yield* ask(`${url}/for-agents.md`)
    assert.strictEqual(file.headers.get("content-type"), "text/markdown; charset=utf-8")
    assert.strictEqual(file.text, llms.text)
    for (const bound of [
      "`agentName` 1-64, `reason` 1-280, `dedication` 1-40, `salt` 16-256",
      "`Idempotency-Key`: 12-128 of",
      `\`name\` 1-${nameMaximum}, \`sender\` 1-${senderMaximum}, \`text\` 1-${textMaximum}`,
    ]) {
      assert.include(llms.text, bound)
    }
    assert.match(llms.text, /^# Spirit Altar\n\n> /u)
    for (const [, link = ""] of llms.text.matchAll(/\]\((http[^)]+)\)/gu)) {
      const status = (yield* ask(link)).status
      assert.strictEqual(status, link.endsWith("/mcp") ? 405 : 200, link)
    }
  })

  it("publish test vectors that other implementations reproduce", function* ({ url }) {
    const { text } = yield* ask(`${url}/llms.txt`)
    // printf 'sixteen-chars-ok\0hello' | sha256sum, and so on; the last words normalize to "café", LF, "at dawn".
    for (const commitment of [
      "91de83b1a54270846ea2487a374c42d37984a976ec150a81b365dd028173c0cf",
      "6afde0a2de2a0973df45fed7040a985cb1efcdba7153d9420aa8743a19fb664a",
      "8c05d8b5973b5e62760424aad46c8ee86ca4264924600a6fc6967d802c1fd2b4",
    ]) {
      assert.include(text, commitment)
    }
    assert.include(text, String.raw`" cafe\u0301\r\nat dawn\n"`)
  })

  it("offer nothing while payments are not configured", function* () {
    const unpaid = yield* anotherServer({}, { payments: ["PAY_TO"] })
    const { text } = yield* ask(`${unpaid}/.well-known/agent.json`)
    const { payment }: Manifest = JSON.parse(text)
    assert.deepInclude(payment, { enabled: false, missing: ["PAY_TO"] })
    assert.notProperty(payment, "payTo")
    assert.include((yield* ask(`${unpaid}/llms.txt`)).text, "not configured")
  })
})
