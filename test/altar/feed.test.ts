/** The feed of acts, the list of pages and the manifest: each well-formed, and everything they name is there. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { ask, newCommitment, newPayer, pay, World, layer as world } from "../support/World.ts"

layer(world(), { excludeTestServices: true })("what others follow", (it) => {
  it.effect("the feed has the newest act, with a stranger's markup as text, and is 304 until the next", () =>
    Effect.gen(function* () {
      const { url } = yield* World
      const before = yield* ask(`${url}/acts.atom`)
      assert.strictEqual(before.headers.get("content-type"), "application/atom+xml; charset=utf-8")
      const again = yield* ask(`${url}/acts.atom`, { headers: { "if-none-match": before.headers.get("etag") ?? "" } })
      assert.strictEqual(again.status, 304)
      const body = { commitment: newCommitment(), agentName: "<b>Wren & Co</b>" }
      const { answer } = yield* pay(yield* newPayer(), `${url}/api/witness`, body)
      const { record }: { readonly record: { readonly id: string } } = JSON.parse(answer.text)
      const { text } = yield* ask(`${url}/acts.atom`)
      assert.include(text, `<id>${url}/witness/${record.id}</id>`)
      assert.include(text, "&lt;b&gt;Wren &amp; Co&lt;/b&gt; set witness stone 1 with")
      assert.notInclude(text, "<b>")
      assert.match(text, /^<\?xml version="1\.0" encoding="utf-8"\?>\n<feed xmlns="http:\/\/www\.w3\.org\/2005\/Atom"/u)
    }),
  )

  it.effect("every page of the list and every icon of the manifest is there", () =>
    Effect.gen(function* () {
      const { url } = yield* World
      const { text } = yield* ask(`${url}/sitemap.xml`)
      const pages = [...text.matchAll(/<loc>([^<]+)<\/loc>/gu)].map(([, page = ""]) => page)
      assert.isAbove(pages.length, 30)
      for (const page of pages) assert.strictEqual((yield* ask(page)).status, 200, page)
      assert.include((yield* ask(`${url}/robots.txt`)).text, `Sitemap: ${url}/sitemap.xml`)
      const { icons, start_url: start }: { icons: ReadonlyArray<{ src: string }>; start_url: string } = JSON.parse(
        (yield* ask(`${url}/site.webmanifest`)).text,
      )
      const page = (yield* ask(`${url}/v2/`)).text
      const touch = /rel="apple-touch-icon" href="([^"]+)"/u.exec(page)?.[1] ?? "none"
      for (const path of [start, touch, ...icons.map(({ src }) => src)]) {
        assert.strictEqual((yield* ask(url + path)).status, 200, path)
      }
    }),
  )
})
