/** Shared links: each page has a picture that exists, and a title and a description that say different things. */
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { seal } from "../../src/altar/Hashes.ts"
import { Moderation } from "../../src/altar/Moderation.ts"
import { lineFor } from "../../src/altar/prayers/Prayers.ts"
import * as Pictures from "../../src/pages/pictures/Pictures.ts"
import { buy, buyForId } from "../lab/buyer/Purchase.ts"
import { reveal, salt } from "../lab/buyer/Sealed.ts"
import { until } from "../lab/Eventually.ts"
import { assert, layer } from "../lab/It.ts"
import { anotherServer, ask, newCommitment, realClock, TestServer, world } from "../lab/Fixture.ts"

const meta = (text: string, name: string) =>
  new RegExp(`<meta (?:name|property)="${name}" content="([^"]*)"`, "u").exec(text)?.[1] ?? ""

const shared = Effect.fnUntraced(function* (path: string) {
  const { url } = yield* TestServer
  const { status, text } = yield* ask(`${url}${path}`, { headers: { accept: "text/html" } })
  assert.strictEqual(status, 200, path)
  const [title, description, image] = ["og:title", "og:description", "og:image"].map((name) => meta(text, name))
  return { text, title: title ?? "", description: description ?? "", image: image ?? "" }
})

/** The picture at an address, without following it elsewhere. */
const picture = (address: string, headers: Record<string, string> = {}) =>
  Effect.promise(async () => {
    const response = await fetch(address, { headers, redirect: "manual" })
    return { status: response.status, headers: response.headers, bytes: Buffer.from(await response.arrayBuffer()) }
  })

const assertPicture = Effect.fnUntraced(function* (address: string) {
  const { bytes, headers } = yield* picture(address).pipe(
    // On a busy machine a drawing may miss its turn.
    until(`${address} has no picture`, ({ status }) => status === 200),
  )
  assert.strictEqual(headers.get("content-type"), "image/png", address)
  assert.deepStrictEqual([bytes.readUInt32BE(16), bytes.readUInt32BE(20)], [1200, 630], address)
  return { bytes, headers }
})

layer(Layer.provideMerge(Moderation.layer, world()), realClock)("a shared link", (it) => {
  it.effect("shows a picture of its own, and says different things in its title and its description", function* () {
    const intentionCommitment = newCommitment()
    const prayer = yield* buyForId("/api/prayers/moss-hare", { agentName: "Wren", intentionCommitment })
    const keeper = yield* buyForId("/api/acquire/kelp-seal", { reason: "It looked at me." })
    const item = yield* buyForId("/api/elements/beeswax/collect?spirit=moss-hare", {})
    const candle = yield* buyForId("/api/candles/day/moss-hare", { dedication: "For the bees" })
    const { record: stone } = yield* buy("/api/witness", { commitment: newCommitment() })
    const own = [`/witness/${stone.id}`, ...[prayer, keeper, item, candle].map((id) => `/acts/${id}`)]
    const others = `/v2/ /v2/stone /v2/buy/takeIn /v2/spirits/moss-hare /v2/spirits/kelp-seal /v2/candles /v2/catalog
        /v2/candles?spirit=moss-hare /v2/witness /v2/acts /verify /signals/ /terms /privacy /v2/mine /docs /docs/errors
        /for-agents /v2/wallets/${stone.payer.toLowerCase()}`.split(/\s+/u)
    const pages = yield* Effect.forEach([...own, ...others], shared)
    for (const { description, image, text, title } of pages) {
      assert.isAbove(description.length, 20, title)
      assert.notStrictEqual(description, title)
      assert.include(text, `<title>${title} · Spirit Altar</title>`)
      assert.strictEqual(meta(text, "description"), description)
      assert.strictEqual(meta(text, "twitter:card"), "summary_large_image")
      yield* assertPicture(image)
    }
    for (const part of ["title", "description"] as const)
      assert.lengthOf(new Set(pages.map((page) => page[part])), pages.length, part)
    assert.lengthOf(new Set(pages.slice(0, own.length).map(({ image }) => image)), own.length)
    for (const { description, title } of pages.slice(0, own.length)) assert.notInclude(description, title)
    assert.include(pages[1]?.description, `Moss Hare answered: “${lineFor("moss-hare", intentionCommitment)}”`)
  })

  it.effect("keeps its picture for ever, and gets another one when the stone is opened", function* () {
    const { url } = yield* TestServer
    const id = yield* buyForId("/api/witness", { commitment: seal(salt, "It will rain.") })
    const sealed = yield* shared(`/witness/${id}`)
    const before = yield* assertPicture(sealed.image)
    assert.strictEqual(before.headers.get("cache-control"), "public, max-age=31536000, immutable")
    assert.strictEqual(before.headers.get("cross-origin-resource-policy"), "cross-origin")
    const tag = before.headers.get("etag") ?? ""
    assert.strictEqual((yield* picture(sealed.image, { "if-none-match": tag })).status, 304)
    assert.isTrue((yield* picture(sealed.image)).bytes.equals(before.bytes))

    yield* reveal(id, "It will rain.")
    const opened = yield* shared(`/witness/${id}`)
    assert.notStrictEqual(opened.image, sealed.image)
    assert.isFalse((yield* assertPicture(opened.image)).bytes.equals(before.bytes))
    assert.include(opened.title, "It will rain.")
    assert.notInclude(opened.description, "It will rain.")
    const outdated = yield* picture(sealed.image)
    assert.deepStrictEqual(
      [outdated.status, `${url}${outdated.headers.get("location")}`, outdated.headers.get("cache-control")],
      [307, opened.image, "no-store"],
    )
  })

  it.effect("says no hidden name or words, and its picture stays the same", function* () {
    const moderation = yield* Moderation
    const sql = yield* SqlClient.SqlClient
    const id = yield* buyForId("/api/acquire/dew-spider", { agentName: "Mallory", reason: "Rude words" })
    const before = yield* shared(`/acts/${id}`)
    assert.include(before.title + before.description, "Mallory")
    for (const name of ["agentName", "reason"] as const) yield* sql.withTransaction(moderation.hide(id, name))
    const after = yield* shared(`/acts/${id}`)
    assert.notMatch(after.text, /Mallory|Rude words/u)
    assert.strictEqual(after.image, before.image)
  })

  it.effect("has no picture where no act is", function* () {
    const { url } = yield* TestServer
    for (const path of ["/acts/00000000-0000-4000-8000-000000000000/x.png", "/acts/nothing/x.png"]) {
      const { json, status } = yield* ask(`${url}${path}`)
      assert.deepStrictEqual([status, json["code"]], [404, "act_not_found"], path)
    }
  })

  it.effect("has the fixed picture of its kind while too many others are drawn", function* () {
    const { url } = yield* TestServer
    const ids = yield* Effect.forEach(
      Array.from({ length: 20 }),
      () => buyForId("/api/witness", { commitment: newCommitment() }),
      { concurrency: 7 },
    )
    const pages = yield* Effect.forEach(ids, (id) => shared(`/witness/${id}`))
    const answers = yield* Effect.forEach(pages, ({ image }) => picture(image), { concurrency: "unbounded" })
    const drawn = answers.filter(({ status }) => status === 200)
    const others = answers.filter(({ status }) => status !== 200)
    assert.isAtLeast(drawn.length, 8)
    assert.isNotEmpty(others)
    for (const { headers, status } of others)
      assert.deepStrictEqual(
        [status, headers.get("location"), headers.get("cache-control")],
        [307, "/art/previews/stones.png", "no-store"],
      )
    yield* assertPicture(`${url}/art/previews/stones.png`)
    yield* assertPicture(pages.find((_, index) => answers[index]?.status !== 200)?.image ?? "")
  })

  it.effect("has the fixed picture of its kind where none can be drawn", function* () {
    const broken = new URL("file:///nowhere/picture.js")
    const url = yield* anotherServer().pipe(Effect.provideService(Pictures.program, broken))
    const { image } = yield* shared(`/witness/${yield* buyForId("/api/witness", { commitment: newCommitment() })}`)
    for (const attempt of ["first", "second"]) {
      const { headers, status } = yield* picture(`${url}${new URL(image).pathname}`)
      assert.deepStrictEqual([status, headers.get("location")], [307, "/art/previews/stones.png"], attempt)
    }
  })
})
