/** The free reads: their content, freshness, 304 answers and pages, and the hashes of publications. */
import { buy } from "../lab/buyer/Purchase.ts"
import { createHash } from "node:crypto"
import { readFileSync } from "node:fs"
import { assert, layer } from "../lab/It.ts"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { network } from "../lab/Chain.ts"
import { today } from "../lab/Clock.ts"
import { ask, newCommitment, newPayer, read, realClock, TestServer, world } from "../lab/Fixture.ts"
import { assertAnswer, assertEach } from "../lab/Assertions.ts"

/** The ids on all pages of a list. */
const idsOfPages = Effect.fnUntraced(function* (path: string, member: string) {
  const ids: Array<string> = []
  for (let next = ""; ids.length < 1000;) {
    const page = yield* read(`${path}${next}`)
    ids.push(...page[member].map(({ id }: { id: string }) => id))
    if (page.next === null) break
    next = `&before=${page.next}`
  }
  return ids
})

layer(world(), realClock)("the free reads", (it) => {
  it.effect("start empty and complete", function* () {
    const { url } = yield* TestServer
    const { spirits } = yield* read("/api/spirits")
    assert.strictEqual(spirits.length, 24)
    assert.deepStrictEqual([spirits[0].id, spirits[0].keeper], ["moss-hare", null])
    for (const spirit of spirits) assert.strictEqual((yield* ask(`${url}${spirit.image}`)).status, 200, spirit.image)
    const { altars, day } = yield* read("/api/altars")
    assert.strictEqual(altars.length, 24)
    assert.deepStrictEqual(altars[3].today, { day, state: "free", prayer: null })
    assert.deepStrictEqual(yield* read("/api/field"), {
      ok: true,
      day,
      keepers: 0,
      prayersToday: 0,
      litCandles: 0,
      stones: 0,
      acts: 0,
      centsSettled: 0,
      lastSettlement: null,
    })
  })

  it.effect("show the paid acts", function* () {
    yield* today
    const { url } = yield* TestServer
    const payer = yield* newPayer(50_000_000n)
    yield* buy("/api/prayers/moss-hare", { agentName: "Wren", intentionCommitment: newCommitment() }, { payer })
    yield* buy("/api/acquire/moss-hare", { agentName: "Wren" }, { payer })
    yield* buy("/api/elements/beeswax/collect?spirit=moss-hare", {}, { payer })
    const last = yield* buy("/api/candles/month/moss-hare", { dedication: "For the hare" }, { payer })
    const field = yield* read("/api/field")
    assert.deepStrictEqual(
      [field.keepers, field.prayersToday, field.litCandles, field.acts, field.centsSettled, field.lastSettlement.id],
      [1, 1, 1, 4, 903, last.record.id],
    )
    const hare = (yield* read("/api/altars")).altars[0]
    assert.deepStrictEqual(
      [hare.today.state, hare.today.prayer.agentName, hare.keeper.agentName, hare.litCandles, hare.dedicated],
      ["taken", "Wren", "Wren", 1, 1],
    )
    assert.strictEqual(hare.candles[0].dedication, "For the hare")
    assert.strictEqual((yield* read("/api/spirits")).spirits[0].keeper.agentName, "Wren")
    assert.notInclude((yield* ask(`${url}/v2/spirits/moss-hare`)).text, "The newest 1 of 1")
    const first = yield* read("/api/acts?limit=3")
    const second = yield* read(`/api/acts?limit=3&before=${first.next}`)
    assertEach([...first.acts, ...second.acts], (act: { act: string }) => act.act, [
      "lightMonth",
      "collectMaterial",
      "takeIn",
      "offerPrayer",
    ])
    assert.isNull(second.next)
  })

  it.effect("list the candles of an altar or of all, the newest first, and no light among them", function* () {
    const light = (spirit: string, body: object) =>
      Effect.map(buy(`/api/candles/day/${spirit}`, body), ({ record }) => String(record.id))
    const first = yield* light("ribbon-eel", { dedication: "First" })
    const second = yield* light("ink-cuttlefish", { dedication: "Second" })
    const third = yield* light("ribbon-eel", { dedication: "Third" })
    const newestLight = yield* light("ribbon-eel", { parentId: first })
    const listed = (query: string) =>
      Effect.map(read(`/api/candles${query}`), ({ candles }) =>
        candles.map(({ id }: { id: string }) => id).filter((id: string) => [first, second, third].includes(id)),
      )
    assert.deepStrictEqual(yield* listed(""), [third, second, first])
    assert.deepStrictEqual(yield* listed("?spirit=ribbon-eel"), [third, first])
    assert.deepStrictEqual(yield* listed("?spirit=ribbon-eel&limit=1"), [third])
    assert.deepStrictEqual(yield* listed(`?spirit=ribbon-eel&before=${third}`), [first])
    for (const [page, size] of [
      ["", 2],
      ["&limit=1", 1],
      [`&before=${first}`, 0],
    ] as const) {
      const { candles, lit } = yield* read(`/api/candles?spirit=ribbon-eel${page}`)
      assert.deepStrictEqual([candles.length, lit], [size, 2], "a page counts all lit candles")
    }
    const sql = yield* SqlClient.SqlClient
    yield* sql`ALTER TABLE candles DROP CONSTRAINT candles_id_fkey`
    const repeat = (id: string, times: number) => sql`
        INSERT INTO candles SELECT (json_populate_record(c,
          json_build_object('id', gen_random_uuid(), 'lit_at', c.lit_at - n / 10 * interval '1 second'))).*
        FROM candles c, generate_series(1, ${times}::int) n WHERE c.id = ${id}::uuid`
    yield* repeat(first, 60)
    yield* repeat(newestLight, 12)
    for (const [query, size] of [
      ["", 20],
      ["&limit=50", 50],
    ] as const)
      assert.lengthOf((yield* read(`/api/candles?spirit=ribbon-eel${query}`)).candles, size)
    const pages = yield* idsOfPages("/api/candles?spirit=ribbon-eel&limit=25", "candles")
    assert.strictEqual(new Set(pages).size, 62, "candles of one moment are on some page")
    const eel = (yield* read("/api/altars")).altars.find((altar: { spirit: string }) => altar.spirit === "ribbon-eel")
    assert.strictEqual(eel.litCandles, 62)
    assertEach(eel.candles, ({ id }: { id: string }) => id, pages.slice(0, 5), "the newest five")
    const { lightCount, lights } = (yield* read("/api/candles?limit=50")).candles.find(
      ({ id }: { id: string }) => id === first,
    )
    const moments = new Set(lights.map(({ litAt }: { litAt: string }) => litAt))
    assert.deepStrictEqual([lightCount, lights.length, moments.size], [13, 10, 1], "the newest ten of one moment")
  })

  it.effect("lead through all pages of acts, also of one moment", function* () {
    const sql = yield* SqlClient.SqlClient
    yield* sql`UPDATE acts SET settled_at = now()`
    const ids = yield* idsOfPages("/api/acts?limit=3", "acts")
    assert.deepStrictEqual([ids.length, new Set(ids).size], [8, 8])
  })

  it.effect("list catalogs whose manifests are those of the files served", function* () {
    const { url } = yield* TestServer
    const sql = yield* SqlClient.SqlClient
    yield* sql`UPDATE payment_pools SET drawn = 3, highest = 3, released = '{2}' WHERE name = 'edition:beeswax'`
    const { elements } = yield* read("/api/elements")
    assert.deepInclude(
      elements.find(({ id }: { id: string }) => id === "beeswax"),
      { issued: 1, reserved: 1, remaining: 254 },
      "a released number is free",
    )
    for (const [name, total] of [
      ["elements", 12 * 256],
      ["companions", 8 * 64],
      ["pixels", 768],
    ] as const) {
      const catalog = yield* read(`/api/${name}`)
      assert.strictEqual(catalog.totalEditionSize, total)
      const [collect, publicationChain] = ["/api/elements/{id}/collect", "/api/publish-chain"]
      assert.deepInclude(catalog, { priceUsd: "$0.01", collect, publicationChain })
      assert.deepInclude(catalog.terms, { transferable: false, onchainToken: false })
      assert.match(
        Object.values(catalog.terms).join(" "),
        /share the same artwork.* own numbered keeper record .* verified as the payer.* not checked.* proves who paid and how much.* does not bind .* recorded in the publication chain/u,
      )
      assert.deepInclude(catalog.payment, { enabled: true, state: "ready", network, actionPriceUsd: "$0.01" })
      assert.deepInclude(catalog.payment, { recipientConfigured: true, missing: [], issues: [] })
      assert.deepInclude(catalog.payment.buyerSpendPolicy, {
        perPaymentMaximumUsd: "$0.01",
        cumulativeSessionBudgetRequired: false,
      })
      for (const item of catalog[name]) {
        assert.strictEqual(item.issued + item.reserved + item.remaining, item.editionSize)
        const { artwork } = item.publicationManifest
        const served = yield* Effect.promise(() =>
          fetch(`${url}${artwork.path}`).then((response) => response.arrayBuffer()),
        )
        assert.strictEqual(createHash("sha256").update(new Uint8Array(served)).digest("hex"), artwork.sha256)
        assert.strictEqual(served.byteLength, artwork.bytes)
      }
    }
    const size = readFileSync(new URL("../../src/web/art/pixels/pixel-bit-frog.png", import.meta.url)).readUInt32BE(16)
    const { pixels } = yield* read("/api/pixels")
    for (const [at, name] of "bit-frog cache-crab signal-moth root-fox packet-puffer moon-gecko".split(" ").entries())
      assert.deepInclude(pixels[at], { id: `pixel-${name}`, kind: "pixel", editionSize: 128 })
    const frog = pixels[0].publicationManifest.artwork
    assert.deepStrictEqual([frog.width, frog.height, frog.mimeType], [size, size, "image/png"])
  })

  it.effect("answer 405 with Allow, and 404 in one form", function* () {
    const { url } = yield* TestServer
    const wrong = yield* ask(`${url}/api/spirits`, { method: "DELETE" })
    assertAnswer(wrong, 405, "method_not_allowed")
    assert.strictEqual(wrong.headers.get("allow"), "GET, HEAD, OPTIONS")
    for (const path of [
      "api/nothing",
      "api/spirits/",
      "API/spirits",
      "api//spirits",
      // A server without a key has no log.
      "api/witness/log",
      "api/witness/3f0c2c1e-5b0a-4c1f-9d51-8a54f3a3f6a1/proof",
      "log/checkpoint",
    ])
      assertAnswer(yield* ask(`${url}/${path}`), 404, "not_found", undefined, path)
  })
})
