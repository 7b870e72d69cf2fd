/** The reader's own browser recomputes every hash: valid parts are shown as valid, and parts changed in transit are not. */
import { assert } from "@effect/vitest"
import { SqlClient } from "effect/sql"
import type { Page } from "playwright-core"
import { seal } from "../../src/altar/Hashes.ts"
import { terminal } from "../lab/Terminal.ts"
import { said, type Segment, stones } from "../lab/browser/ChainPage.ts"
import { guide } from "../lab/browser/Guide.ts"
import { ask, newCommitment } from "../lab/Fixture.ts"

const tamper = (page: Page, change: (segment: Segment) => Partial<Segment>) =>
  page.route("**/api/witness/chain?*", async (route) => {
    const response = await route.fetch()
    const segment: Segment = await response.json()
    await route.fulfill({ response, json: { ...segment, ...change(segment) } })
  })

const status = (page: Page) => said(page).locator(".verdict--holds, .verdict--broken, .verdict--unchecked")

guide("verification in the page", (it) => {
  it("shows a changed link as broken, unfolded, with both hashes", async ({ visit, run }) => {
    await run(stones(3))
    const { page } = await visit("/v2/witness")
    await tamper(page, ({ entries }) => ({
      entries: entries.map((entry) => (entry.sequence === 2 ? { ...entry, commitment: "a".repeat(64) } : entry)),
    }))
    await page.getByRole("button", { name: "Check everything here" }).click()
    await status(page).waitFor()
    assert.match(await status(page).innerText(), /^✗\s*The chain does not hold\./u)
    assert.strictEqual(await page.locator('[data-link="2"] [data-verdict]').innerText(), "✗ broken")
    assert.strictEqual(await page.locator('[data-link="1"] [data-verdict]').innerText(), "✓ holds")
    const open = page.locator(".checks__item details[open]")
    assert.match((await open.allInnerTexts()).join(), /Stone 2 does not hold/u)
    assert.match(await page.locator(".checks__item").first().innerText(), /^✗\s*Stone [23] does not hold/u)
  })

  it("detects a head that is not the last link, and says which facts it could not check", async ({ visit, run }) => {
    const newest = (await run(stones(3))).at(-1)
    const { page, url } = await visit("/v2/witness")
    await tamper(page, ({ head }) => ({ head: { ...head, chainHash: "e".repeat(64) } }))
    await page.getByRole("button", { name: "Check everything here" }).click()
    await status(page).waitFor()
    assert.match(await status(page).innerText(), /^✗\s*Another head\.[^]*e{64}/u)
    await page.unrouteAll()
    await page.goto(`${url}/witness/${newest?.id}`)
    await page.getByRole("button", { name: "Check stone 3" }).click()
    await page.getByText("The hash before stone 3 is the altar's word; check from stone 1 for that.").waitFor()
  })

  it("names the stone that the altar itself reports as broken, and no payment", async ({ visit, run }) => {
    await run(stones(3))
    const sql = await run(SqlClient.SqlClient)
    const { page, url } = await visit("/v2/witness")
    const [stone] = await run(sql<{ commitment: string }>`SELECT commitment FROM witness_stones WHERE sequence = 2`)
    await run(sql`UPDATE witness_stones SET commitment = ${newCommitment()} WHERE sequence = 2`)
    await page.getByRole("button", { name: "Check everything here" }).click()
    await page.getByText("The chain does not hold.").waitFor()
    const words = await status(page).innerText()
    assert.include(words, "The chain is broken at stone 2: witness stone 2 does not hash to its chainHash.")
    assert.notMatch(words, /If you sent a payment|The server failed/u)
    const at = await run(terminal)
    const verified = await run(at.run(["verify", "--url", url]))
    assert.strictEqual(verified.code, 1, verified.stderr)
    assert.include(verified.stderr, "BROKEN: the altar says so itself. The chain is broken at stone 2: ")
    await run(sql`UPDATE witness_stones SET commitment = ${stone?.commitment ?? ""} WHERE sequence = 2`)
  })

  it("links the manual for checking without this page", async ({ visit, run }) => {
    const { page, url } = await visit("/v2/witness")
    await page.getByRole("link", { name: "How to check it yourself" }).click()
    await page.getByRole("heading", { level: 1, name: "Check the chain yourself" }).waitFor()
    const { text } = await run(ask(`${url}/v2/witness`))
    assert.notInclude(text, "npm run")
  })

  it("shows a chain with a missing link as broken, and a server that fails as not checked", async ({ visit, run }) => {
    await run(stones(3))
    const { page } = await visit("/v2/witness")
    await tamper(page, ({ entries }) => ({ entries: entries.filter(({ sequence }) => sequence !== 2) }))
    const check = page.getByRole("button", { name: "Check everything here" })
    await check.click()
    await status(page).waitFor()
    assert.match(await status(page).innerText(), /^✗/u)
    await page.unrouteAll()
    await page.route("**/api/witness/chain?*", (route) => route.abort())
    await check.click()
    await page.getByText("Not checked.").waitFor()
    assert.match(await status(page).innerText(), /The altar does not answer/u)
  })

  it("recomputes one stone step by step on its own page", async ({ visit, run }) => {
    const newest = (await run(stones(3))).at(-1)
    const { page } = await visit(`/witness/${newest?.id}`)
    await page.getByRole("button", { name: "Check stone 3" }).click()
    await page.getByText("Stone 3 holds.").waitFor()
    const steps = await page.locator(".checks .steps > li").allInnerTexts()
    assert.strictEqual(steps.length, 5)
    assert.match(steps[0] ?? "", /chain hash of stone 2/u)
    assert.match(steps[1] ?? "", /NUL/u)
    assert.match(steps[3] ?? "", /^✓\s*Same hash\./u)
    assert.match(steps[4] ?? "", /^✓\s*Same stone\./u)
  })
})

guide("in verification, words", (it) => {
  it("are sealed and checked without being sent, by the recipe of the server", async ({ visit }) => {
    const { page } = await visit("/v2/stone")
    const requests: Array<string> = []
    await page.waitForLoadState("networkidle")
    page.on("request", (request) => requests.push(request.url()))
    for (const fold of ["Seal words in this browser", "Check words without sending them"])
      await page.getByText(fold).click()
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
})

guide("in verification, artwork", (it) => {
  it("is hashed in the page, and another file under its name is detected", async ({ visit }) => {
    const { page } = await visit("/v2/catalog#river-clay")
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
})
