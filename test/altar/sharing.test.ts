/** Pictures and badges as other people's pages get them: drawn beside the server, kept, limited, and embeddable anywhere. */
import { assert, describe, it as plain } from "@effect/vitest"
import { Effect, Fiber, Schedule } from "effect"
import { seal } from "../../src/altar/Hashes.ts"
import { Renderer } from "../../src/pages/sharing/Renderer.ts"
import { createActs, createAct, sandbox } from "../lab/browser/Guide.ts"
import { from, loopback, newAddress } from "../lab/server/Rooms.ts"
import { ask, newCommitment, post } from "../lab/Fixture.ts"
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

suite("the shared view of an act", sandbox({ trustedProxies: loopback }), (it) => {
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

  it("says of hidden revealed words that they are hidden, not that they are sealed", function* ({ url }) {
    const [salt, text] = ["0123456789abcdef", "see https://example.com"]
    const stone = yield* createAct("/api/witness", { commitment: seal(salt, text) })
    const description = Effect.map(
      ask(`${url}/witness/${stone.id}`, { headers: { accept: "text/html" } }),
      (page) => /property="og:description" content="([^"]*)"/u.exec(page.text)?.[1] ?? "",
    )
    assert.include(yield* description, "The words are sealed.")
    yield* ask(`${url}/api/witness/${stone.id}/reveal`, post({ salt, text }))
    assert.include(yield* description, "The words were revealed and are not shown.")
    assert.notInclude(yield* description, "sealed")
  })

  it("shows a candle's unsealed words without a form to unseal them again", function* ({ url }) {
    const salt = "fedcba9876543210"
    for (const [words, shown] of [
      [
        "Thank you for the bees.",
        '<blockquote class="words"><p dir="auto" data-words-shown>Thank you for the bees.</p>',
      ],
      ["see https://example.com", "The words were unsealed and match the commitment."],
    ] as const) {
      const candle = yield* createAct("/api/candles/day/moss-hare", {
        dedication: "for the bees",
        intentionCommitment: seal(salt, words),
      })
      const look = ask(`${url}/acts/${candle.id}`, { headers: { accept: "text/html" } })
      const before = yield* look
      assert.include(before.text, "data-reveal=")
      assert.notInclude(before.text, shown)
      yield* ask(`${url}/api/candles/${candle.id}/unseal`, post({ salt, words }))
      const after = yield* look
      assert.include(after.text, shown)
      assert.notInclude(after.text, "data-reveal=")
      assert.notInclude(after.text, "example.com")
    }
  })

  it("is the published bytes of the pixels, compressed in transit", function* ({ url }) {
    const path = `${url}/art/pixels/pixel-bit-frog.png`
    for (const encoding of ["gzip", "br"]) {
      const packed = yield* Effect.promise(() => fetch(path, { headers: { "accept-encoding": encoding } }))
      assert.strictEqual(packed.headers.get("content-encoding"), encoding)
      const bytes = yield* Effect.promise(() => packed.arrayBuffer())
      assert.strictEqual(bytes.byteLength, 33_164)
    }
    const plain = yield* Effect.promise(() => fetch(path, { headers: { "accept-encoding": "identity" } }))
    assert.deepStrictEqual(
      [plain.headers.get("content-encoding"), plain.headers.get("content-length")],
      [null, "33164"],
    )
  })

  it("is drawn sixty times a minute for one address, and served without a limit once drawn", function* ({ url }) {
    const stone = yield* createAct("/api/witness", { commitment: newCommitment() })
    const headers = from(newAddress())
    const look = (id: string) => ask(`${url}/acts/${id}/preview.png`, { headers })
    assert.strictEqual((yield* look(stone.id)).status, 200)
    for (let asked = 1; asked < 60; asked++) assert.strictEqual((yield* look(crypto.randomUUID())).status, 404)
    const refused = yield* look(crypto.randomUUID())
    assertAnswer(refused, 429, "rate_limited")
    assert.isAtLeast(Number(refused.headers.get("retry-after")), 1)
    assert.strictEqual((yield* look(stone.id)).status, 200)
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
