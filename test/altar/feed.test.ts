/** The feed of acts: well-formed, and everything they name is there. */
import { buy } from "../lab/buyer/Purchase.ts"
import { assert, layer } from "../lab/It.ts"
import { ask, newCommitment, realClock, TestServer, world } from "../lab/Fixture.ts"

layer(world(), realClock)("a site with a feed", (it) => {
  it.effect("lists the newest act first with its markup escaped, and answers 304 until the next act", function* () {
    const { url } = yield* TestServer
    const before = yield* ask(`${url}/acts.atom`)
    assert.strictEqual(before.headers.get("content-type"), "application/atom+xml; charset=utf-8")
    const again = yield* ask(`${url}/acts.atom`, { headers: { "if-none-match": before.headers.get("etag") ?? "" } })
    assert.strictEqual(again.status, 304)
    yield* buy()
    const body = { commitment: newCommitment(), agentName: "<b>Wren & Co</b>" }
    const { record } = yield* buy("/api/witness", body)
    const { text } = yield* ask(`${url}/acts.atom`)
    assert.include(text, `<id>${url}/witness/${record.id}</id>`)
    assert.include(text, "&lt;b&gt;Wren &amp; Co&lt;/b&gt; sealed an intention with")
    assert.notInclude(text, "<b>")
    const times = [...text.matchAll(/<updated>([^<]+)/gu)].map(([, time]) => time)
    assert.deepStrictEqual([times.length, ...times.slice(0, 2)], [3, record.witnessedAt, record.witnessedAt])
    assert.match(text, /^<\?xml version="1\.0" encoding="utf-8"\?>\n<feed xmlns="http:\/\/www\.w3\.org\/2005\/Atom"/u)
  })

  it.effect("has every icon that it names", function* () {
    const { url } = yield* TestServer
    const favicon = yield* ask(`${url}/favicon.ico`)
    const page = (yield* ask(`${url}/v2/`)).text
    const touch = /rel="apple-touch-icon" href="([^"]+)"/u.exec(page)?.[1] ?? "none"
    for (const path of [favicon.headers.get("location") ?? "/none", touch]) {
      assert.strictEqual((yield* ask(url + path)).status, 200, path)
    }
  })
})
