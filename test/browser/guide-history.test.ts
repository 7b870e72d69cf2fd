/** A chain may be forged so that every hash fits: what the page shows and what this browser saw still give it away. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { isAccessible, picture, steps, visit } from "../lab/browser/Browser.ts"
import { answerOn, check, ended, forge, remember, said, serve, stones } from "../lab/browser/ChainPage.ts"
import { guide } from "../lab/browser/Guide.ts"
import { forbidStorage } from "../lab/browser/GuidePage.ts"
import { ask } from "../lab/Fixture.ts"

guide("a forged chain", (it) => {
  it.effect(
    "in which every hash fits is not the one the page shows: stone and thread turn red, the part is named",
    () =>
      Effect.gen(function* () {
        const honest = yield* stones(3)
        const [first] = honest
        const forged = forge(honest, ({ sequence }) => (sequence === 1 ? { commitment: "a".repeat(64) } : {}))
        const { page, url } = yield* visit("/v2/witness", { bypassCSP: true })
        yield* steps(async () => {
          await serve(page, forged)
          await check(page)
          await ended(page)
          assert.match(await said(page).innerText(), /^✗\s*The chain differs from this page\./u)
          assert.strictEqual(await said(page).locator('a[href="/verify#payments"]').count(), 1)
          const stone = page.locator('[data-link="1"]')
          assert.strictEqual(await stone.locator("[data-verdict]").innerText(), "✗ differs")
          assert.match((await stone.getAttribute("class")) ?? "", /link--broken/u)
          assert.notStrictEqual(
            await stone.locator(".pebble__edge").evaluate((edge) => getComputedStyle(edge).stroke),
            "rgb(59, 43, 32)",
          )
          const report = page.locator(".checks__item").first()
          const words = (await report.innerText()).replace(/\s+/gu, " ")
          assert.match(words, /Stone 1 differs: commitment, chain hash/u)
          assert.include(words, first?.commitment ?? "none")
          assert.include(words, "a".repeat(64))
          assert.isAbove(await report.locator("mark").count(), 0)
          assert.strictEqual(await page.locator("[data-verify-status] .verdict--holds").count(), 0)
          await isAccessible(page, "a forged chain")
          await picture(page, "guide-forged")

          await page.goto(`${url}/witness/${first?.id}`)
          await check(page)
          await ended(page)
          assert.match(await said(page).innerText(), /^✗/u)
          assert.notInclude(await said(page).innerText(), "Stone 1 holds.")
          assert.match((await page.locator('[data-part="commitment"]').getAttribute("class")) ?? "", /differs/u)
          assert.strictEqual(await page.locator("figure [data-verdict]").innerText(), "✗ differs")
          assert.notMatch((await page.locator('[data-part="transaction"]').getAttribute("class")) ?? "", /differs/u)
          await isAccessible(page, "a forged stone")
          await picture(page, "guide-forged-stone")
          await page.setViewportSize({ width: 360, height: 800 })
          await page.emulateMedia({ colorScheme: "dark" })
          await isAccessible(page, "a forged stone on a phone by night")
          assert.isAtMost(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth), 0)
          await picture(page, "guide-forged-stone-dark-360")
        })
      }),
  )

  for (const [what, change, label] of [
    ["time", { witnessedAt: "2020-01-01T00:00:00.000Z" }, "time"],
    ["transaction", { transaction: `0x${"b".repeat(64)}` }, "transaction"],
    ["address", { id: "00000000-0000-4000-8000-000000000000" }, "address"],
  ] as const) {
    it.effect(`with another ${what} of the newest stone is found out`, () =>
      Effect.gen(function* () {
        const honest = yield* stones(3)
        const forged = forge(honest, ({ sequence }) => (sequence === honest.length ? change : {}))
        const { page } = yield* visit("/v2/witness")
        yield* steps(async () => {
          await serve(page, forged)
          await check(page)
          await ended(page)
          assert.match(await said(page).innerText(), /^✗/u)
          assert.match(
            await page.locator(".checks__item").first().innerText(),
            new RegExp(`Stone ${honest.length} differs: ${label}`, "u"),
          )
        })
      }),
    )
  }

  it.effect("that answers for another stone than was asked does not check this one", () =>
    Effect.gen(function* () {
      const honest = yield* stones(3)
      const { page } = yield* visit(`/witness/${honest[1]?.id}`)
      yield* steps(async () => {
        await page.route("**/api/witness/chain?*", async (route) => {
          const response = await route.fetch({ url: route.request().url().replace("from=2", "from=3") })
          await route.fulfill({ response })
        })
        await check(page)
        await ended(page)
        assert.match(await said(page).innerText(), /^✗/u)
      })
    }),
  )

  it.effect("that page and chain tell alike is not what this browser saw, and the page says so by itself", () =>
    Effect.gen(function* () {
      const honest = yield* stones(3)
      const forged = forge(honest, ({ sequence }) => (sequence === 1 ? { commitment: "c".repeat(64) } : {}))
      const { page } = yield* visit("/v2/witness")
      yield* steps(async () => {
        await check(page)
        await said(page).getByText("links hold.").waitFor()
        await serve(page, forged)
        // The page is rewritten too: nothing on it contradicts the chain.
        await page.route("**/v2/witness", async (route) => {
          const response = await route.fetch()
          let body = await response.text()
          for (const [index, entry] of honest.entries()) {
            const other = forged[index]
            if (other === undefined) continue
            body = body.replaceAll(entry.chainHash, other.chainHash).replaceAll(entry.commitment, other.commitment)
          }
          await route.fulfill({ response, body })
        })
        await page.reload()
        await ended(page)
        assert.match(
          await said(page).innerText(),
          /^✗\s*History differs from what this browser saw on \d+ \w+ \d{4}, \d\d:\d\d UTC\.\s+This page and the chain agree with each other, and not with what this browser saw\./u,
        )
        assert.strictEqual(await page.locator('[data-link="1"] [data-verdict]').innerText(), "✗ differs")
        // Whoever knows why may begin anew.
        await page.getByRole("button", { name: "Forget what this browser saw" }).click()
        await said(page).getByText("links hold.").waitFor()
      })
    }),
  )

  it.effect("that is shorter than what this browser saw differs, though every link of it holds", () =>
    Effect.gen(function* () {
      const honest = yield* stones(3)
      const { page, url } = yield* visit("/v2/witness")
      yield* steps(async () => {
        await serve(page, honest.slice(0, -1))
        // The stone before the newest is still there, and its page names no head.
        await page.goto(`${url}/witness/${honest.at(-2)?.id}`)
        await check(page)
        await ended(page)
        const words = await said(page).innerText()
        assert.match(words, /^✗\s*History differs from what this browser saw on/u)
        assert.include(words, `ends at stone ${honest.length - 1}, but this browser saw stone ${honest.length} on`)
      })
    }),
  )

  it.effect("is found out by a browser that keeps nothing, as far as the page goes", () =>
    Effect.gen(function* () {
      const honest = yield* stones(3)
      const forged = forge(honest, ({ sequence }) => (sequence === 2 ? { commitment: "d".repeat(64) } : {}))
      const { complaints, page } = yield* visit("/v2/witness")
      yield* steps(async () => {
        await forbidStorage(page)
        await page.reload()
        await check(page)
        await said(page).getByText("This browser keeps nothing, so there is nothing from before").waitFor()
        await serve(page, forged)
        await check(page)
        await said(page).getByText("The chain differs from this page.").waitFor()
        assert.match(await page.locator(".checks__item").first().innerText(), /Stone 2 differs: commitment/u)
      })
      assert.deepStrictEqual(complaints, [])
    }),
  )
})

guide("a chain that is answered in part", (it) => {
  it.effect("is not checked when its head is no number, or no hash", () =>
    Effect.gen(function* () {
      yield* stones(3)
      const { page, url } = yield* visit("/v2/witness")
      yield* steps(async () => {
        for (const head of [
          { sequence: "x", chainHash: "e".repeat(64) },
          { sequence: -1, chainHash: "e".repeat(64) },
          { sequence: 3, chainHash: "E" },
        ]) {
          const stranger = await answerOn(page, `${url}/v2/witness`, (segment) => ({
            ...segment,
            entries: segment.entries.slice(0, 2),
            head,
          }))
          await check(stranger)
          await ended(stranger)
          assert.match(await said(stranger).innerText(), /^✗\s*Not checked\./u)
          await stranger.close()
        }
      })
    }),
  )

  it.effect("without a link this browser saw misses it, and a head of another hash differs", () =>
    Effect.gen(function* () {
      yield* stones(3)
      const { page, url } = yield* visit("/v2/witness")
      yield* steps(async () => {
        // Too far from what the page shows to be walked to.
        await remember(page, [[2000, "e".repeat(64), Date.now()]])
        for (const [chainHash, word] of [
          ["e".repeat(64), /^✗\s*Links are missing\./u],
          ["f".repeat(64), /^✗\s*History differs from what this browser saw on/u],
        ] as const) {
          const stranger = await answerOn(page, `${url}/v2/witness`, (segment, from) => ({
            ...segment,
            entries: from === 2000 ? [] : segment.entries,
            head: { sequence: 2000, chainHash },
          }))
          await ended(stranger)
          assert.match(await said(stranger).innerText(), word)
          await stranger.close()
        }
      })
    }),
  )

  it.effect("is compared with what a clock that ran fast remembered", () =>
    Effect.gen(function* () {
      yield* stones(3)
      const { page } = yield* visit("/v2/witness")
      yield* steps(async () => {
        await remember(page, [[1, "c".repeat(64), Date.now() + 86_400_000]])
        await page.reload()
        await ended(page)
        assert.match(await said(page).innerText(), /^✗\s*History differs from what this browser saw on/u)
        await page.getByRole("button", { name: "Forget what this browser saw" }).click()
        await said(page).getByText("links hold.").waitFor()
        await check(page)
        await said(page).getByText("links hold.").waitFor()
      })
    }),
  )
})

guide("a chain that a partial check walks", (it) => {
  it.effect("is compared with what was seen beyond it, also where the newest that was seen fits", () =>
    Effect.gen(function* () {
      const honest = yield* stones(3)
      const newest = honest[2]
      const { page } = yield* visit(`/witness/${newest?.id}`)
      yield* steps(async () => {
        await remember(page, [
          [1, "c".repeat(64), Date.now()],
          [3, newest?.chainHash ?? "none", Date.now()],
        ])
        await page.reload()
        await check(page)
        await ended(page)
        assert.match(await said(page).innerText(), /^✗\s*History differs from what this browser saw on/u)
      })
    }),
  )
})

guide("an emptied chain", (it) => {
  it.effect("is no empty chain to a browser that saw its stones", () =>
    Effect.gen(function* () {
      const { complaints, page, url } = yield* visit("/v2/witness", { bypassCSP: true })
      const empty = yield* ask(`${url}/v2/witness`)
      yield* steps(async () => {
        await page.getByRole("button", { name: "Check the empty chain" }).click()
        await said(page).getByText("The chain is empty.").waitFor()
        await isAccessible(page, "an empty chain")
      })
      yield* stones(3)
      yield* steps(async () => {
        await page.getByRole("button", { name: "Check the empty chain" }).click()
        await said(page).getByText("The chain has grown.").waitFor()
        await page.goto(`${url}/v2/witness?before=1`)
        await check(page)
        await said(page).getByText("Stone 3 holds.").waitFor()
        await serve(page, [])
        await page.route("**/v2/witness", (route) =>
          route.fulfill({ contentType: "text/html; charset=utf-8", body: empty.text }),
        )
        await page.goto(`${url}/v2/witness`)
        await ended(page)
        const words = await said(page).innerText()
        assert.match(words, /^✗\s*History differs from what this browser saw on/u)
        assert.include(words, "ends before its first stone, but this browser saw stone 3 on")
      })
      assert.deepStrictEqual(complaints, [])
    }),
  )
})

guide("an honest chain", (it) => {
  it.effect("that grows stays green, also from the page of one stone to a head this browser saw", () =>
    Effect.gen(function* () {
      const before = yield* stones(2)
      const { complaints, page, url } = yield* visit("/v2/witness")
      yield* steps(async () => {
        await check(page)
        await said(page).getByText("All 2 links hold.").waitFor()
        await said(page).getByText("This browser sees this chain for the first time").waitFor()
      })
      const after = yield* stones(5)
      yield* steps(async () => {
        // A page that is older than the chain contradicts nothing.
        await check(page)
        await said(page).getByText("All 2 links hold.").waitFor()
        await page.reload()
        await check(page)
        await said(page).getByText("All 5 links hold.").waitFor()
        assert.match(
          await said(page).innerText(),
          /It fits what this browser saw on [^,]+, \d\d:\d\d UTC, up to stone 2\./u,
        )
        assert.deepStrictEqual(await page.locator("[data-verdict]").allInnerTexts(), Array(5).fill("✓ holds"))
        await page.goto(`${url}/witness/${before[1]?.id}`)
        await check(page)
        await said(page).getByText("Stone 2 holds.").waitFor()
        assert.match(await said(page).innerText(), /Links 2 to 5 were walked[^]*up to stone 5\./u)
        await page.goto(`${url}/witness/${after[4]?.id}`)
        await check(page)
        await said(page).getByText("Stone 5 holds.").waitFor()
      })
      assert.deepStrictEqual(complaints, [])
    }),
  )
})
