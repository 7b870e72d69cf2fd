/** The well-known files that machines request, and the pages about the operator. */
import { assert, layer } from "../lab/It.ts"
import { Effect, Layer, Option } from "effect"
import { Operator } from "../../src/platform/Operator.ts"
import { ask, realClock, TestServer, world, serverWith } from "../lab/Fixture.ts"

const day = 86_400_000

/** The URL of a second server on the same database, run by this operator. */
const serve = (operator: Partial<typeof Operator.unnamed>) =>
  Effect.map(
    serverWith({}, { operator: { ...Operator.unnamed, ...operator } }, Layer.empty),
    ({ publicUrl }) => publicUrl,
  )

layer(world(), realClock)("a server", (it) => {
  it.effect("without a named operator has no security.txt, and answers 404", function* () {
    const { url } = yield* TestServer
    const { json, status } = yield* ask(`${url}/.well-known/security.txt`)
    assert.deepStrictEqual([status, json["code"]], [404, "not_found"])
  })

  it.effect("without a named operator links its own terms and privacy page at every page's foot", function* () {
    const { url } = yield* TestServer
    for (const path of ["/v2/", "/v2/witness", "/for-agents", "/signals/", "/terms", "/nothing"]) {
      const { text } = yield* ask(`${url}${path}`, { headers: { accept: "text/html" } })
      for (const link of ['href="/terms"', 'href="/privacy"']) assert.include(text, link, path)
    }
    for (const path of ["/terms", "/privacy"])
      assert.include((yield* ask(`${url}${path}`)).text, "This server does not say who runs it.")
  })

  it.effect("tells crawlers which paths not to index", function* () {
    const { url } = yield* TestServer
    const { headers, text } = yield* ask(`${url}/robots.txt`)
    assert.strictEqual(headers.get("content-type"), "text/plain; charset=utf-8")
    assert.match(text, /^User-agent: \*\nAllow: \/\nDisallow: \/api\/rooms\n/u)
    for (const path of ["/v2/acts?", "/v2/wallets/", "/api/wallets/"])
      assert.include(text.split("\n"), `Disallow: ${path}`)
  })

  it.effect("names its operator, and a contact that never expires", function* () {
    const contact = Option.some("mailto:keeper@altar.example")
    const url = yield* serve({ name: Option.some("Wren & Sons"), contact })
    const { headers, text } = yield* ask(`${url}/.well-known/security.txt`)
    assert.strictEqual(headers.get("content-type"), "text/plain; charset=utf-8")
    const fields = new Map(text.split("\n").map((line) => [line.split(": ")[0], line.split(": ")[1]]))
    assert.strictEqual(fields.get("Contact"), "mailto:keeper@altar.example")
    assert.strictEqual(fields.get("Canonical"), `${url}/.well-known/security.txt`)
    const left = Date.parse(fields.get("Expires") ?? "") - Date.now()
    // RFC 9116 advises less than a year.
    assert.isTrue(left > 100 * day && left < 365 * day, String(left))
    for (const path of ["/terms", "/privacy"]) {
      const page = (yield* ask(`${url}${path}`)).text
      assert.include(page, "run by Wren &amp; Sons")
      assert.include(page, 'href="mailto:keeper@altar.example"')
    }
  })

  it.effect("shows its operator's texts as plain text", function* () {
    const url = yield* serve({
      terms: Option.some("## Ours\r\n\r\nFirst\nsecond <b>line</b>\n\n- one\n- two\n"),
    })
    const { text } = yield* ask(`${url}/terms`)
    assert.include(text, `<h2 id="ours">Ours</h2>`)
    assert.include(text, "<p>First second &lt;b&gt;line&lt;/b&gt;</p>")
    assert.match(text, /<ul>\s*<li>one<\/li><li>two<\/li>\s*<\/ul>/u)
    assert.notInclude(text, "What you pay")
    assert.include((yield* ask(`${url}/privacy`)).text, "What is public")
  })
})
