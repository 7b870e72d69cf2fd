/** The feed of acts, the list of pages and the manifest: each well-formed, and everything they name is there. */
import { Effect } from "effect"
import { seal } from "../../src/altar/Hashes.ts"
import { ask, layer as world, newCommitment, newPayer, pay, post, bought, read } from "../lab/Fixture.ts"
import { assert, suite, valuesOf } from "../lab/Suites.ts"

suite("for followers,", world(), (it) => {
  it("the feed has the newest act, escapes a stranger's markup, and is 304 until the next act", function* ({ url }) {
    const before = yield* ask(`${url}/acts.atom`)
    assert.strictEqual(before.headers.get("content-type"), "application/atom+xml; charset=utf-8")
    const again = yield* ask(`${url}/acts.atom`, { headers: { "if-none-match": before.headers.get("etag") ?? "" } })
    assert.strictEqual(again.status, 304)
    const body = { commitment: newCommitment(), agentName: "<b>Wren & Co</b>" }
    const { record } = yield* bought("/api/witness", body)
    const { text } = yield* ask(`${url}/acts.atom`)
    assert.include(text, `<id>${url}/witness/${record.id}</id>`)
    assert.include(text, "&lt;b&gt;Wren &amp; Co&lt;/b&gt; set witness stone 1 with")
    assert.notInclude(text, "<b>")
    assert.match(text, /^<\?xml version="1\.0" encoding="utf-8"\?>\n<feed xmlns="http:\/\/www\.w3\.org\/2005\/Atom"/u)
  })

  it("the feed stays readable after a name with a character that XML does not allow", function* ({ url }) {
    const body = { commitment: newCommitment(), agentName: "Wren\uffff of\ufffe Bade", spirit: "moss-hare" }
    const { answer } = yield* pay(yield* newPayer(), `${url}/api/witness`, body)
    assert.strictEqual(answer.status, 201, answer.text)
    for (const feed of ["/acts.atom", "/v2/spirits/moss-hare/acts.atom"]) {
      const { text } = yield* ask(`${url}${feed}`)
      assert.include(text, "<name>Wren\ufffd of\ufffd Bade</name>")
      assert.notMatch(text, /[\ufffe\uffff]/u)
    }
  })

  it("a spirit's feed has the acts on its altar, and no other's", function* ({ url }) {
    const leave = (path: string, body: object) => Effect.map(bought(path, body), ({ record }): string => record.id)
    const feed = `${url}/v2/spirits/kelp-seal/acts.atom`
    const empty = yield* ask(feed)
    assert.deepStrictEqual(
      [empty.status, empty.headers.get("content-type")],
      [200, "application/atom+xml; charset=utf-8"],
    )
    assert.notInclude(empty.text, "<entry")
    const prayer = yield* leave("/api/prayers/kelp-seal", { agentName: "Wren", intentionCommitment: newCommitment() })
    const keeper = yield* leave("/api/acquire/kelp-seal", { agentName: "Wren" })
    const edition = yield* leave("/api/elements/beeswax/collect?spirit=kelp-seal", {})
    const candle = yield* leave("/api/candles/day/kelp-seal", { dedication: "for the bees" })
    const light = yield* leave("/api/candles/day/kelp-seal", { parentId: candle })
    const stone = yield* leave("/api/witness", { commitment: newCommitment(), spirit: "kelp-seal" })
    const other = yield* leave("/api/prayers/moss-hare", { agentName: "Wren", intentionCommitment: newCommitment() })
    const { text } = yield* ask(feed)
    const ids = [...text.matchAll(/<entry\s*><id>[^<]*\/([0-9a-f-]{36})<\/id>/gu)].map(([, id]) => id)
    assert.deepStrictEqual(ids, [stone, light, candle, edition, keeper, prayer])
    assert.notInclude(text, other)
    assert.include(text, `<link rel="self" type="application/atom+xml" href="${feed}" />`)
    const page = yield* ask(`${url}/v2/spirits/kelp-seal`)
    assert.include(page.text, 'title="Acts with Kelp Seal" href="/v2/spirits/kelp-seal/acts.atom"')
    assert.strictEqual((yield* ask(`${url}/v2/spirits/unicorn/acts.atom`)).status, 404)
  })

  it("the sitemap lists the permalinks, each dated by its content", function* ({ url }) {
    const list = Effect.map(
      ask(`${url}/sitemap.xml`),
      ({ text }) =>
        new Map(
          [...text.matchAll(/<loc>([^<]+)<\/loc>(?:<lastmod>([^<]+)<\/lastmod>)?/gu)].map(([, page = "", changed]) => [
            page.slice(url.length),
            changed,
          ]),
        ),
    )
    const { acts } = yield* read("/api/acts")
    const before = yield* list
    for (const { act, id, settledAt } of acts) {
      if (act === "setWitnessStone") assert.isDefined(before.get(`/witness/${id}`))
      else assert.strictEqual(before.get(`/acts/${id}`), settledAt)
    }
    assert.strictEqual(before.get("/v2/"), acts[0].settledAt)
    const salt = "0123456789abcdef"
    const { record } = yield* bought("/api/witness", { commitment: seal(salt, "It will rain") })
    assert.strictEqual((yield* list).get(`/witness/${record.id}`), record.witnessedAt)
    yield* ask(`${url}/api/witness/${record.id}/reveal`, post({ salt, text: "It will rain" }))
    const { stone } = yield* read(`/api/witness/${record.id}`)
    assert.strictEqual((yield* list).get(`/witness/${record.id}`), stone.reveal.revealedAt)
  })

  it("every page of the sitemap and every icon of the manifest exists", function* ({ url }) {
    const { text } = yield* ask(`${url}/sitemap.xml`)
    const pages = [...text.matchAll(/<loc>([^<]+)<\/loc>/gu)].map(([, page = ""]) => page)
    assert.isAbove(pages.length, 30)
    for (const page of pages) assert.strictEqual((yield* ask(page)).status, 200, page)
    assert.include((yield* ask(`${url}/robots.txt`)).text, `Sitemap: ${url}/sitemap.xml`)
    const { icons, start_url: start } = yield* read("/site.webmanifest")
    const favicon = yield* ask(`${url}/favicon.ico`)
    assert.strictEqual((yield* ask(url + (favicon.headers.get("location") ?? "/none"))).status, 200)
    const page = (yield* ask(`${url}/v2/`)).text
    const touch = /rel="apple-touch-icon" href="([^"]+)"/u.exec(page)?.[1] ?? "none"
    for (const path of [start, touch, ...valuesOf<{ src: string }, "src">(icons, "src")]) {
      assert.strictEqual((yield* ask(url + path)).status, 200, path)
    }
  })
})
