/** The static site: the way in, what a page may do, what is not asked twice, and nothing outside of it. */
import { createHash, randomUUID } from "node:crypto"
import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { request } from "node:http"
import { join } from "node:path"
import { assert, describe, it as plain, layer } from "@effect/vitest"
import { Effect } from "effect"
import { build } from "../../src/web/build.ts"
import { layer as rooms } from "../support/Rooms.ts"
import { ask, World } from "../support/World.ts"

/** `fetch` would tidy the path before it is sent. */
const raw = (url: string, path: string) =>
  Effect.callback<number>((resume) => {
    const { hostname, port } = new URL(url)
    const sent = request({ hostname, port, path }, (response) => {
      response.resume()
      resume(Effect.succeed(response.statusCode ?? 0))
    })
    sent.end()
  })

const dist = new URL("../../dist/web/", import.meta.url).pathname

const built = () =>
  readdirSync(dist, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
    .map((file) => [file.slice(dist.length), createHash("sha256").update(readFileSync(file)).digest("hex")])

layer(rooms(), { excludeTestServices: true })("the site", (it) => {
  it.effect("leads from / to /v2/ and keeps the query", () =>
    Effect.gen(function* () {
      const { url } = yield* World
      for (const method of ["GET", "HEAD"]) {
        for (const query of ["", "?", "?a=1&b=%2F%3F&a=2"]) {
          const answer = yield* ask(`${url}/${query}`, { method })
          assert.deepStrictEqual([answer.status, answer.headers.get("location")], [307, `/v2/${query}`], method + query)
        }
      }
      const folder = yield* ask(`${url}/signals?a=1`)
      assert.deepStrictEqual([folder.status, folder.headers.get("location")], [301, "/signals/?a=1"])
    }),
  )

  it.effect("serves pages that may load and run what is their own, and nothing else", () =>
    Effect.gen(function* () {
      const { url } = yield* World
      const types = {
        "/v2/": "text/html; charset=utf-8",
        "/v2/page.css": "text/css; charset=utf-8",
        "/signals/": "text/html; charset=utf-8",
        "/signals/page.css": "text/css; charset=utf-8",
        "/signals/main.js": "text/javascript; charset=utf-8",
        "/style/icon.svg": "image/svg+xml; charset=utf-8",
      }
      for (const [path, type] of Object.entries(types)) {
        const { headers, status } = yield* ask(`${url}${path}`)
        assert.strictEqual(status, 200, path)
        assert.strictEqual(headers.get("content-type"), type)
        assert.strictEqual(
          headers.get("content-security-policy"),
          "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
        )
        assert.strictEqual(headers.get("x-content-type-options"), "nosniff")
        assert.strictEqual(headers.get("referrer-policy"), "no-referrer")
        assert.strictEqual(headers.get("cache-control"), "no-cache")
      }
    }),
  )

  it.effect("answers 304 for what is known, and a part of a file when a part is asked for", () =>
    Effect.gen(function* () {
      const { url } = yield* World
      const path = `${url}/signals/main.js`
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
    }),
  )

  it.effect("serves nothing outside of itself", () =>
    Effect.gen(function* () {
      const { url } = yield* World
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
      const unknown = yield* ask(`${url}/nowhere.html`)
      assert.deepStrictEqual([unknown.status, unknown.json["code"]], [404, "not_found"])
    }),
  )
})

describe("the build", () => {
  plain("writes the same bytes again, and leaves no strangers", async () => {
    const before = built()
    assert.isAbove(before.length, 5)
    writeFileSync(join(dist, `stranger-${randomUUID()}.txt`), "")
    await build(new URL("../../dist/web/", import.meta.url))
    assert.deepStrictEqual(built(), before)
  })
})
