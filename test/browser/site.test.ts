/** The static site: the way in, what a page may do, what is not asked twice, and nothing outside of it. */
import { readdirSync, writeFileSync } from "node:fs"
import { request } from "node:http"
import { join } from "node:path"
import { assert, describe, it as plain, layer } from "../lab/It.ts"
import { Effect } from "effect"
import { writeOutput } from "../../src/web/output.ts"
import { rooms } from "../lab/server/Rooms.ts"
import { ask, realClock, TestServer } from "../lab/Fixture.ts"
import { newFolder } from "../lab/Folders.ts"
import { assertSome } from "../lab/Assertions.ts"

const raw = (url: string, path: string) =>
  Effect.callback<number>((resume) => {
    const { hostname, port } = new URL(url)
    const sent = request({ hostname, port, path }, (response) => {
      response.resume()
      resume(Effect.succeed(response.statusCode ?? 0))
    })
    sent.end()
  })

const assetOf = Effect.fnUntraced(function* (plain: string) {
  const { url } = yield* TestServer
  const [name] = Object((yield* ask(`${url}/assets.json`)).json[plain])
  assert.match(String(name), /^\/[a-z0-9]+\/[a-z-]+-[0-9A-Z]{8}\.\w+$/u)
  return String(name)
})

const isPacked = (type: string) => /^(?:font|image\/png)/u.test(type)

layer(rooms(), realClock)("the site", (it) => {
  it.effect("redirects / to /v2/ and keeps the query", function* () {
    const { url } = yield* TestServer
    for (const method of ["GET", "HEAD"]) {
      for (const query of ["", "?", "?a=1&b=%2F%3F&a=2"]) {
        const answer = yield* ask(`${url}/${query}`, { method })
        assert.deepStrictEqual([answer.status, answer.headers.get("location")], [307, `/v2/${query}`], method + query)
      }
    }
    const folder = yield* ask(`${url}/signals?a=1`)
    assert.deepStrictEqual([folder.status, folder.headers.get("location")], [301, "/signals/?a=1"])
  })

  it.effect("lets browsers cache files named by their content for a year, and names them in every page", function* () {
    const { url } = yield* TestServer
    const types = {
      "/v2/page.css": "text/css; charset=utf-8",
      "/v2/main.js": "text/javascript; charset=utf-8",
      "/signals/page.css": "text/css; charset=utf-8",
      "/signals/main.js": "text/javascript; charset=utf-8",
      "/docs/page.css": "text/css; charset=utf-8",
      "/docs/main.js": "text/javascript; charset=utf-8",
      "/type/vollkorn-roman.woff2": "font/woff2",
      "/type/vollkorn-italic.woff2": "font/woff2",
    }
    const pages = yield* Effect.forEach(["/v2/", "/signals/", "/docs", "/for-agents"], (path) =>
      ask(`${url}${path}`, { headers: { accept: "text/html" } }),
    )
    for (const { headers } of pages) assert.strictEqual(headers.get("cache-control"), "no-cache")
    for (const [plain, type] of Object.entries(types)) {
      const path = yield* assetOf(plain)
      const { headers, status, text } = yield* ask(`${url}${path}`)
      assert.deepStrictEqual([status, headers.get("content-type")], [200, type], path)
      assert.strictEqual(headers.get("cache-control"), "public, max-age=31536000, immutable", path)
      assertSome(pages, (page) => page.text.includes(`"${path}"`), path)
      assert.isAbove(text.length, 0)
      assert.isFalse(
        pages.some((page) => page.text.includes(`"${plain}"`)),
        plain,
      )
    }
    const lost = yield* ask(`${url}/v2/page-00000000.css`)
    assert.deepStrictEqual([lost.status, lost.headers.get("cache-control")], [404, "no-store"])
  })

  it.effect("compresses every response above a kilobyte", function* () {
    const { url } = yield* TestServer
    const assets = yield* ask(`${url}/assets.json`)
    const named = `/v2/ /v2/candles /v2/catalog /v2/witness /v2/stone /v2/acts /v2/spirits/moss-hare /v2/nowhere
      /signals/ /docs /for-agents /terms /openapi.json /llms.txt /v2/checker.js /v2/log.js /v2/file.js
      /api/altars /api/elements /art/spirits/moss-hare.svg /art/pixels/pixel-bit-frog.png
      /art/icons/icon-192.png`.split(/\s+/u)
    for (const path of [...named, ...Object.values(assets.json).flat().map(String)]) {
      const headers = { accept: "text/html, */*;q=0.5", "accept-encoding": "br, gzip" }
      const { headers: answered, text } = yield* ask(`${url}${path}`, { headers })
      const isSmall = Buffer.byteLength(text) < 1024
      const encoding = answered.get("content-encoding")
      // A pixel's file lies uncompressed, because its hash is published.
      const isDense = isPacked(answered.get("content-type") ?? "") && !path.startsWith("/art/pixels/")
      assert.strictEqual(encoding, isSmall || isDense ? null : "br", path)
    }
  })

  it.effect("answers 304 for a known file, and a range of a file on request", function* () {
    const { url } = yield* TestServer
    const path = `${url}${yield* assetOf("/signals/main.js")}`
    const plainly = { "accept-encoding": "identity" }
    const whole = yield* ask(path, { headers: plainly })
    const etag = whole.headers.get("etag") ?? ""
    assert.match(etag, /^"[^"]+"$/u)
    const known = yield* ask(path, { headers: { ...plainly, "if-none-match": etag } })
    assert.deepStrictEqual([known.status, known.text, known.headers.get("etag")], [304, "", etag])
    const part = yield* ask(path, { headers: { ...plainly, range: "bytes=10-19" } })
    assert.deepStrictEqual([part.status, part.text], [206, whole.text.slice(10, 20)])
    const head = yield* ask(path, { method: "HEAD", headers: plainly })
    assert.deepStrictEqual(
      [head.status, head.text, head.headers.get("content-length")],
      [200, "", String(Buffer.byteLength(whole.text))],
    )
    const compressed = yield* ask(path, { headers: { "accept-encoding": "gzip" } })
    assert.strictEqual(compressed.text, whole.text)
    const again = { "accept-encoding": "gzip", "if-none-match": compressed.headers.get("etag") ?? "" }
    assert.strictEqual((yield* ask(path, { headers: again })).status, 304)
  })

  it.effect("serves no file outside of its folder", function* () {
    const { url } = yield* TestServer
    const tricks = [
      "/../package.json",
      "/v2/../../../package.json",
      "/%2e%2e/%2e%2e/package.json",
      "/..%2f..%2fpackage.json",
      "/v2/..%5c..%5c..%5cpackage.json",
      "/v2/%00",
      "/v2/%",
      "/%2fetc%2fpasswd",
      "//etc/passwd",
    ]
    for (const path of tricks) assert.strictEqual(yield* raw(url, path), 404, path)
  })
})

describe("the build", () => {
  plain("removes the files that it did not write", async () => {
    const folder = newFolder()
    writeFileSync(join(folder, "stranger.txt"), "")
    await writeOutput(folder, [{ path: join(folder, "page.css"), contents: Buffer.from("a {}") }])
    assert.deepStrictEqual(readdirSync(folder), ["page.css"])
  })
})
