/** Pictures and badges as other people's pages get them: drawn beside the server, kept, limited, and embeddable anywhere. */
import { assert, describe, it as plain } from "@effect/vitest"
import { Effect, Fiber, Schedule } from "effect"
import { Renderer } from "../../src/pages/sharing/Renderer.ts"
import { createActs, createAct, sandbox } from "../lab/browser/Guide.ts"
import { ask, newCommitment } from "../lab/Fixture.ts"
import { assertAnswer, suite } from "../lab/Suites.ts"

const circle = (fill: string) =>
  `<svg xmlns="http://www.w3.org/2000/svg" width="1200" height="630"><circle cx="600" cy="300" r="200" fill="${fill}"/></svg>`

/** Signature, width and height of a PNG. */
const formOf = (png: Uint8Array) => {
  const view = new DataView(png.buffer, png.byteOffset)
  return [view.getUint32(0), view.getUint32(16), view.getUint32(20)]
}

const form = [0x89504e47, 1200, 630]

const bytesOf = (url: string) =>
  Effect.promise(() =>
    fetch(url)
      .then((answer) => answer.arrayBuffer())
      .then((buffer) => new Uint8Array(buffer)),
  )

describe("the renderer of pictures", () => {
  plain.live("draws a PNG of 1200 by 630, and reports when too many wait", () =>
    Effect.gen(function* () {
      const { render } = yield* Renderer
      const asked = yield* Effect.forEach(
        Array.from({ length: 20 }, () => circle("#8c6843")),
        (svg) => Effect.result(render(svg)),
        { concurrency: "unbounded" },
      )
      const drawn = asked.flatMap((one) => (one._tag === "Success" ? [one.success] : []))
      assert.strictEqual(drawn.length, 16)
      for (const one of asked) if (one._tag === "Failure") assert.strictEqual(one.failure._tag, "RendererBusy")
      for (const png of drawn) assert.deepStrictEqual(formOf(png), form)
      const other = yield* render(circle("#7d9a3f"))
      assert.notDeepEqual(other, drawn[0])
      const text = `<text x="9" y="99" font-family="serif" font-size="60">Stone</text></svg>`
      assert.isAbove((yield* render(circle("red").replace("</svg>", text))).byteLength, other.byteLength + 500)
    }).pipe(Effect.provide(Renderer.layer)),
  )

  plain.live("keeps the places of disconnected callers until the thread has drawn their pictures", () =>
    Effect.gen(function* () {
      const { render } = yield* Renderer
      const left = yield* Effect.forEach(Array.from({ length: 16 }), () => Effect.forkChild(render(circle("red"))))
      yield* Effect.yieldNow
      yield* Fiber.interruptAll(left)
      assert.strictEqual((yield* Effect.flip(render(circle("red"))))._tag, "RendererBusy")
      const drawn = yield* Effect.retry(render(circle("red")), Schedule.spaced("20 millis"))
      assert.deepStrictEqual(formOf(drawn), form)
    }).pipe(Effect.provide(Renderer.layer)),
  )

  plain.live("continues after a drawing that fails", () =>
    Effect.gen(function* () {
      const { render } = yield* Renderer
      assert.strictEqual((yield* Effect.exit(render("<svg")))._tag, "Failure")
      assert.deepStrictEqual(formOf(yield* render(circle("#8c6843"))), form)
    }).pipe(Effect.provide(Renderer.layer)),
  )
})

suite("the shared view of an act", sandbox(), (it) => {
  it("is a picture for every act, which caches may keep while the act looks the same", function* ({ sql, url }) {
    const { collected, kept, stone } = yield* createActs
    const candle = yield* createAct("/api/candles/day/moss-hare", { dedication: "for the bees" })
    const ids = [collected, kept, stone, candle].map(({ id }) => id)
    yield* sql`UPDATE payment_attempts SET finality = 'final' WHERE id = ANY(${ids}::uuid[])`.pipe(Effect.orDie)
    const tags = new Set<string>()
    for (const { id } of [collected, kept, stone, candle]) {
      const path = `${url}/acts/${id}/preview.png`
      const { headers, status } = yield* ask(path)
      assert.deepStrictEqual([status, headers.get("content-type")], [200, "image/png"])
      assert.deepStrictEqual(formOf(yield* bytesOf(path)), form)
      assert.strictEqual(headers.get("cross-origin-resource-policy"), "cross-origin")
      assert.match(headers.get("content-security-policy") ?? "", /^default-src 'none'/u)
      const tag = headers.get("etag") ?? ""
      tags.add(tag)
      const again = yield* ask(path, { headers: { "if-none-match": `"other", W/${tag}` } })
      assert.deepStrictEqual([again.status, again.text], [304, ""])
      const head = yield* ask(path, { method: "HEAD" })
      assert.deepStrictEqual([head.status, head.headers.get("etag"), head.text], [200, tag, ""])
      const [, seconds = ""] = /^public, max-age=(\d+)/u.exec(headers.get("cache-control") ?? "") ?? []
      if (id === candle.id) assert.isAtMost(Number(seconds), 86_400 / 8)
      else assert.match(headers.get("cache-control") ?? "", /, immutable$/u)
    }
    assert.strictEqual(tags.size, 4)
  })

  it("is a badge of a stone alone, for any origin, without scripts", function* ({ url }) {
    const commitment = newCommitment()
    const stone = yield* createAct("/api/witness", { commitment, agentName: "<script>x</script>" })
    const badge = yield* ask(`${url}/witness/${stone.id}/badge.svg`)
    assert.deepStrictEqual([badge.status, badge.headers.get("content-type")], [200, "image/svg+xml; charset=utf-8"])
    assert.include(badge.text, `${commitment.slice(0, 8)} … ${commitment.slice(-8)}`)
    assert.notMatch(badge.text, /script|foreignObject|on[a-z]+=|href="[^#]/iu)
    assert.strictEqual(badge.headers.get("cross-origin-resource-policy"), "cross-origin")
    assert.strictEqual(badge.headers.get("content-security-policy"), "default-src 'none'; frame-ancestors 'none'")
    assert.strictEqual(badge.headers.get("x-content-type-options"), "nosniff")
    const packed = yield* ask(`${url}/witness/${stone.id}/badge.svg`, { headers: { "accept-encoding": "gzip" } })
    assert.deepStrictEqual([packed.headers.get("content-encoding"), packed.text], ["gzip", badge.text])
    const again = yield* ask(`${url}/witness/${stone.id}/badge.svg`, {
      headers: { "accept-encoding": "gzip", "if-none-match": packed.headers.get("etag") ?? "" },
    })
    assert.strictEqual(again.status, 304)
    for (const [path, code] of [
      ["/witness/00000000-0000-4000-8000-000000000000/badge.svg", "witness_not_found"],
      ["/witness/nothing/badge.svg", "witness_not_found"],
      ["/acts/00000000-0000-4000-8000-000000000000/preview.png", "act_not_found"],
      ["/acts/nothing/preview.png", "act_not_found"],
    ] as const) {
      const none = yield* ask(url + path)
      assert.deepStrictEqual(
        [none.status, none.json["code"], none.headers.get("cache-control")],
        [404, code, "no-store"],
      )
    }
    const posted = yield* ask(`${url}/witness/${stone.id}/badge.svg`, { method: "POST" })
    assert.strictEqual(posted.status, 404)
  })

  it("does not praise an act whose payment was lost", function* ({ sql, url }) {
    const stone = yield* createAct("/api/witness", { commitment: newCommitment(), spirit: "kelp-seal" })
    const look = (path: string) => ask(`${url}/witness/${stone.id}${path}`, { headers: { accept: "text/html" } })
    // While the payment's block could still be orphaned, no cache keeps the picture for longer than the badge.
    const pending = yield* createAct("/api/witness", { commitment: newCommitment() })
    yield* sql`UPDATE payment_attempts SET finality = 'pending' WHERE id = ${pending.id}::uuid`.pipe(Effect.orDie)
    const { headers } = yield* ask(`${url}/acts/${pending.id}/preview.png`)
    assert.match(headers.get("cache-control") ?? "", /^public, max-age=(?:300|2\d\d)$/u)
    const before = yield* look("")
    assert.include(before.text, `property="og:image" content="${url}/acts/${stone.id}/preview.png"`)
    assert.include(before.text, "Certificate to print")
    assert.strictEqual((yield* look("/certificate")).status, 200)
    yield* sql`UPDATE payment_attempts SET finality = 'lost' WHERE id = ${stone.id}::uuid`.pipe(Effect.orDie)
    const after = yield* look("")
    assert.include(after.text, `property="og:image" content="${url}/art/previews/kelp-seal.png"`)
    assert.notMatch(after.text, /Certificate to print|application\/ld\+json/u)
    assert.include((yield* look("/badge.svg")).text, "Its payment was lost")
    const drawn = yield* ask(`${url}/acts/${stone.id}/preview.png`)
    assertAnswer(drawn, 404, "act_not_found")
    const certificate = yield* look("/certificate")
    assert.strictEqual(certificate.status, 404)
    assert.include(certificate.text, "The payment of this stone was reorganised away")
    assert.strictEqual((yield* ask(`${url}/witness/nothing/certificate`)).status, 404)
  })
})

suite("the QR code of a page", sandbox(), (it) => {
  it("encodes a page of this site and nothing else", function* ({ url }) {
    const good = yield* ask(`${url}/v2/qr.svg?to=/v2/spirits/moss-hare`)
    assert.deepStrictEqual([good.status, good.headers.get("content-type")], [200, "image/svg+xml; charset=utf-8"])
    assert.include(good.headers.get("content-security-policy"), "default-src 'none'")
    for (const to of [
      "",
      "//evil.example",
      "/v2/@evil",
      "https://evil.example",
      "/a?b",
      "/a%2f",
      "/\\evil",
      `/${"a".repeat(201)}`,
    ]) {
      const bad = yield* ask(`${url}/v2/qr.svg?to=${encodeURIComponent(to)}`)
      assert.deepStrictEqual([bad.status, bad.json["code"]], [404, "not_found"], to)
    }
  })
})
