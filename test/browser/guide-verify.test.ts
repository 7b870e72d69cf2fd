/** The reader's own browser recomputes every hash: what holds is said to hold, and what was changed on the way is not. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { Page, Route } from "playwright-core"
import { seal } from "../../src/altar/Hashes.ts"
import { terminal } from "../lab/Terminal.ts"
import { steps, visit } from "../lab/browser/Browser.ts"
import { guide, leave } from "../lab/browser/Guide.ts"
import { ask, newCommitment, post, World } from "../lab/Fixture.ts"

type Entry = Record<"commitment" | "previousHash" | "chainHash" | "transaction", string> & { readonly sequence: number }

/** Somebody between the server and the reader who changes one link. */
const tamper = (page: Page, change: (entry: Entry) => Partial<Entry>) =>
  page.route("**/api/witness/chain?*", async (route: Route) => {
    const response = await route.fetch()
    const segment: { readonly entries: ReadonlyArray<Entry> } = await response.json()
    await route.fulfill({
      response,
      json: { ...segment, entries: segment.entries.map((entry) => ({ ...entry, ...change(entry) })) },
    })
  })

const status = (page: Page) =>
  page.locator("[data-verify-status] .verdict--holds, [data-verify-status] .verdict--broken")

const stones = Effect.gen(function* () {
  const { url } = yield* World
  const known = yield* ask(`${url}/api/witness?limit=50`)
  const { stones: listed }: { stones: ReadonlyArray<{ id: string; sequence: number }> } = JSON.parse(known.text)
  if (listed.length >= 3) return listed
  for (let set = listed.length; set < 3; set++) yield* leave("/api/witness", { commitment: newCommitment() })
  const now: { stones: typeof listed } = JSON.parse((yield* ask(`${url}/api/witness`)).text)
  return now.stones
})

const changes: ReadonlyArray<readonly [string, (entry: Entry) => Partial<Entry>]> = [
  ["another commitment", ({ sequence }) => (sequence === 2 ? { commitment: "a".repeat(64) } : {})],
  ["another transaction", ({ sequence }) => (sequence === 2 ? { transaction: `0x${"b".repeat(64)}` } : {})],
  ["another hash", ({ sequence }) => (sequence === 2 ? { chainHash: "c".repeat(64) } : {})],
  ["another hash before", ({ sequence }) => (sequence === 2 ? { previousHash: "d".repeat(64) } : {})],
]

guide("verification in the page", (it) => {
  it.effect("says that an honest chain holds, link by link, in words and signs", () =>
    Effect.gen(function* () {
      yield* stones
      const { complaints, page } = yield* visit("/v2/witness")
      yield* steps(async () => {
        await page.getByRole("button", { name: "Check stones 1 to 3" }).click()
        await status(page).waitFor()
        assert.match(await status(page).innerText(), /^✓\s*All 3 links hold\./u)
        assert.deepStrictEqual(await page.locator("[data-verdict]").allInnerTexts(), ["✓ holds", "✓ holds", "✓ holds"])
        assert.strictEqual(await page.locator(".checks__item").count(), 3)
      })
      assert.deepStrictEqual(complaints, [])
    }),
  )

  for (const [what, change] of changes) {
    it.effect(`shows a link with ${what} as broken, opened, with both hashes`, () =>
      Effect.gen(function* () {
        yield* stones
        const { page } = yield* visit("/v2/witness")
        yield* steps(async () => {
          await tamper(page, change)
          await page.getByRole("button", { name: "Check stones 1 to 3" }).click()
          await status(page).waitFor()
          assert.match(await status(page).innerText(), /^✗\s*The chain does not hold\./u)
          assert.strictEqual(await page.locator('[data-link="2"] [data-verdict]').innerText(), "✗ broken")
          assert.strictEqual(await page.locator('[data-link="1"] [data-verdict]').innerText(), "✓ holds")
          const open = page.locator(".checks__item details[open]")
          assert.match((await open.allInnerTexts()).join(), /Stone 2 does not hold/u)
          assert.match(await page.locator(".checks__item").first().innerText(), /^✗\s*Stone [23] does not hold/u)
        })
      }),
    )
  }

  it.effect("finds out a head that is not the last link, and says what it took on the altar's word", () =>
    Effect.gen(function* () {
      const [newest] = yield* stones
      const { page, url } = yield* visit("/v2/witness")
      yield* steps(async () => {
        await page.route("**/api/witness/chain?*", async (route) => {
          const response = await route.fetch()
          const segment: { readonly head: object } = await response.json()
          const head = { ...segment.head, chainHash: "e".repeat(64) }
          await route.fulfill({ response, json: { ...segment, head } })
        })
        await page.getByRole("button", { name: "Check stones 1 to 3" }).click()
        await status(page).waitFor()
        assert.match(await status(page).innerText(), /^✗\s*Another head\.[^]*e{64}/u)
        await page.unrouteAll()
        await page.goto(`${url}/witness/${newest?.id}`)
        await page.getByRole("button", { name: "Check stone 3" }).click()
        await page.getByText("The hash before stone 3 is the altar's word; check from stone 1 for that.").waitFor()
      })
    }),
  )

  it.effect("says which stone is broken when the altar itself finds it, and says nothing of a payment", () =>
    Effect.gen(function* () {
      yield* stones
      const sql = yield* SqlClient.SqlClient
      const { page, url } = yield* visit("/v2/witness")
      const [stone] = yield* sql<{ commitment: string }>`SELECT commitment FROM witness_stones WHERE sequence = 2`
      yield* sql`UPDATE witness_stones SET commitment = ${newCommitment()} WHERE sequence = 2`
      yield* steps(async () => {
        await page.getByRole("button", { name: /^Check stones 1 to/u }).click()
        await page.getByText("The chain does not hold.").waitFor()
        const said = await status(page).innerText()
        assert.include(said, "The chain is broken at stone 2: witness stone 2 does not hash to its chainHash.")
        assert.notMatch(said, /If you sent a payment|The server failed/u)
      })
      const at = yield* terminal
      const verified = yield* at.run(["verify", "--url", url])
      assert.strictEqual(verified.code, 1, verified.stderr)
      assert.include(verified.stderr, "BROKEN: the altar says so itself. The chain is broken at stone 2: ")
      yield* sql`UPDATE witness_stones SET commitment = ${stone?.commitment ?? ""} WHERE sequence = 2`
    }),
  )

  it.effect("links the manual for checking it without this page", () =>
    Effect.gen(function* () {
      const { page, url } = yield* visit("/v2/witness")
      yield* steps(async () => {
        await page.getByRole("link", { name: "How to check it yourself" }).click()
        await page.getByRole("heading", { level: 1, name: "Check the chain yourself" }).waitFor()
      })
      const { text } = yield* ask(`${url}/v2/witness`)
      assert.notInclude(text, "npm run")
    }),
  )

  it.effect("shows a chain with a missing link as broken, and a server that fails as not checked", () =>
    Effect.gen(function* () {
      yield* stones
      const { page } = yield* visit("/v2/witness")
      yield* steps(async () => {
        await page.route("**/api/witness/chain?*", async (route) => {
          const response = await route.fetch()
          const segment: { readonly entries: ReadonlyArray<Entry> } = await response.json()
          await route.fulfill({
            response,
            json: { ...segment, entries: segment.entries.filter(({ sequence }) => sequence !== 2) },
          })
        })
        const check = page.getByRole("button", { name: "Check stones 1 to 3" })
        await check.click()
        await status(page).waitFor()
        assert.match(await status(page).innerText(), /^✗/u)
        await page.unrouteAll()
        await page.route("**/api/witness/chain?*", (route) => route.abort())
        await check.click()
        await page.getByText("Not checked.").waitFor()
        assert.match(await status(page).innerText(), /The altar does not answer/u)
      })
    }),
  )

  it.effect("recomputes one stone step by step on its own page", () =>
    Effect.gen(function* () {
      const [newest] = yield* stones
      const { page } = yield* visit(`/witness/${newest?.id}`)
      yield* steps(async () => {
        await page.getByRole("button", { name: "Check stone 3" }).click()
        await page.getByText("Stone 3 holds.").waitFor()
        const said = await page.locator(".checks .steps > li").allInnerTexts()
        assert.strictEqual(said.length, 5)
        assert.match(said[0] ?? "", /chain hash of stone 2/u)
        assert.match(said[1] ?? "", /NUL/u)
        assert.match(said[3] ?? "", /^✓\s*Same hash\./u)
        assert.match(said[4] ?? "", /^✓\s*Same stone\./u)
      })
    }),
  )
})

guide("words", (it) => {
  it.effect("are sealed and checked without being sent, by the recipe of the server", () =>
    Effect.gen(function* () {
      const { page } = yield* visit("/v2/witness")
      yield* steps(async () => {
        const requests: Array<string> = []
        await page.waitForLoadState("networkidle")
        page.on("request", (request) => requests.push(request.url()))
        const words = "  Grüße,\r\nund e\u0301 "
        await page.locator("#seal-words").fill(words)
        await page.getByRole("button", { name: "Seal", exact: true }).click()
        const kept: { salt: string; commitment: string } = JSON.parse(
          await page.locator("#seal .keepsake code").innerText(),
        )
        assert.strictEqual(kept.commitment, seal(kept.salt, words))
        for (const [typed, verdict] of [
          ["Grüße,\nund é", /^✓\s*They match\./u],
          ["Gruesse", /^✗\s*They do not match\./u],
        ] as const) {
          await page.locator("#check-salt").fill(kept.salt)
          await page.locator("#check-words").fill(typed)
          await page.locator("#check-commitment").fill(kept.commitment)
          await page.getByRole("button", { name: "Check without sending" }).click()
          await page.locator("#check .verdict").filter({ hasText: verdict }).waitFor()
        }
        assert.deepStrictEqual(requests, [])
        assert.notInclude(page.url(), kept.salt)
      })
    }),
  )

  it.effect("are revealed from a stone's page only when they match", () =>
    Effect.gen(function* () {
      const [salt, text] = ["0123456789abcdef", "The heron will return by May."]
      const stone = yield* leave("/api/witness", { commitment: seal(salt, text) })
      const { page, url } = yield* visit(`/witness/${stone.id}`)
      yield* steps(async () => {
        const sent: Array<string> = []
        page.on("request", (request) => request.method() === "POST" && sent.push(request.url()))
        await page.getByText("Reveal these words to everyone").click()
        await page.locator("#reveal-salt").fill(salt)
        await page.locator("#reveal-words").fill("Another text")
        await page.getByRole("button", { name: "Check, then reveal" }).click()
        await page.getByText("Nothing was sent.").waitFor()
        assert.deepStrictEqual(sent, [])
        await page.locator("#reveal-words").fill(text)
        await page.getByRole("button", { name: "Check, then reveal" }).click()
        await page.getByRole("link", { name: "See the words" }).click()
        await page.locator("blockquote").filter({ hasText: text }).waitFor()
      })
      const again = yield* ask(`${url}/api/witness/${stone.id}/reveal`, post({ salt, text }))
      assert.strictEqual(again.status, 200)
    }),
  )

  it.effect("of a candle are unsealed from its page, and stand on the wall", () =>
    Effect.gen(function* () {
      const [salt, words] = ["fedcba9876543210", "Thank you for the bees."]
      const candle = yield* leave("/api/candles/day/moss-hare", {
        dedication: "For Grandma",
        intentionCommitment: seal(salt, words),
      })
      const { complaints, page } = yield* visit(`/acts/${candle.id}`)
      yield* steps(async () => {
        await page.getByText("Reveal these words to everyone").click()
        await page.locator("#reveal-salt").fill(salt)
        await page.locator("#reveal-words").fill(words)
        await page.getByRole("button", { name: "Check, then reveal" }).click()
        await page.getByRole("link", { name: "See the words" }).click()
        await page.locator("q").filter({ hasText: words }).waitFor()
      })
      assert.deepStrictEqual(complaints, [])
    }),
  )
})

guide("artwork", (it) => {
  it.effect("is hashed in the page, and another file under its name is found out", () =>
    Effect.gen(function* () {
      const { page } = yield* visit("/v2/catalog")
      yield* steps(async () => {
        const bowl = page.locator("#river-clay")
        await bowl.getByText("Publication manifest").click()
        await bowl.getByRole("button", { name: "Hash the artwork here" }).click()
        await bowl.locator(".verdict--holds").waitFor()
        assert.match(await bowl.locator(".verdict").innerText(), /^✓\s*Same hash\./u)
        await page.route("**/art/elements/river-clay.svg", (route) =>
          route.fulfill({ body: "<svg/>", contentType: "image/svg+xml" }),
        )
        await bowl.getByRole("button", { name: "Hash the artwork here" }).click()
        await bowl.locator(".verdict--broken").waitFor()
        assert.match(await bowl.locator(".verdict").innerText(), /^✗\s*Another hash\./u)
      })
    }),
  )
})
