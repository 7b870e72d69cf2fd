/** Revealed words in a reader's browser: hashed there with their salt, and called false where they are not what was sealed. */
import { buyForId } from "../lab/buyer/Purchase.ts"
import { reveal, salt, unseal } from "../lab/buyer/Sealed.ts"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import type { Page } from "playwright-core"
import { pebbleWords } from "../../src/pages/templates/Pebble.ts"
import { seal } from "../../src/altar/Hashes.ts"
import { isAccessible } from "../lab/browser/Browser.ts"
import { guide } from "../lab/browser/Guide.ts"
import { ask } from "../lab/Fixture.ts"

/** In green, once the words hash to their commitment. */
const existed = /^These words existed on \d+ \w+ \d{4}\.$/u

const words = "The heron will return by May."
const other = "Something that came true."

const odd = { salt: ' a salt\r\nof <b>&amp;"two" lines ', words: ' It\'s "quoted",\r\n<i>and</i> cafe\u0301. ' }

const opened = Effect.gen(function* () {
  const stone = yield* buyForId("/api/witness", { commitment: seal(salt, words), agentName: "Wren" })
  yield* reveal(stone, words, { agentName: "Wren" })
  const strange = yield* buyForId("/api/witness", { commitment: seal(odd.salt, odd.words) })
  yield* reveal(strange, odd.words, { salt: odd.salt })
  const intentionCommitment = seal(salt, words)
  const candle = yield* buyForId("/api/candles/day/moss-hare", { dedication: "For the bees", intentionCommitment })
  yield* unseal(candle, words)
  return { stone, strange, candle }
})

const lie = (page: Page) =>
  page.route(
    (url) => /^\/(?:witness|acts|v2)\//u.test(url.pathname) && !url.pathname.includes("."),
    async (route) => {
      const response = await route.fetch()
      await route.fulfill({ response, body: (await response.text()).replaceAll(words, other) })
    },
  )

const verdict = (page: Page) => page.locator('[data-reveal-verdict="page"]')
const status = (page: Page) =>
  page.locator(".verify [role=status] .verdict--holds, .verify [role=status] .verdict--broken")

guide("revealed words", (it) => {
  it("are hashed once shown, with their salt beside them, and marked as matching the seal", async ({ visit, run }) => {
    const { candle, stone, strange } = await run(opened)
    const { page, url } = await visit(`/witness/${stone}`, { bypassCSP: true })
    await verdict(page).getByText(existed).waitFor()
    assert.include(await page.locator("[data-revealed]").innerText(), salt)
    await page.getByRole("button", { name: "Check stone 1" }).click()
    await status(page).first().waitFor()
    assert.match(await status(page).first().innerText(), /^✓\s*Stone 1 is as recorded\./u)
    await isAccessible(page, "a revealed stone")
    for (const path of [`/witness/${strange}`, `/acts/${candle}`]) {
      await page.goto(`${url}${path}`)
      await verdict(page).getByText(existed).waitFor()
    }
  })

  it("that were changed in transit are marked as false on every page and in its check", async ({ visit, url, run }) => {
    const listed: { readonly acts: ReadonlyArray<{ id: string; act: string; reveal: { text: string } | null }> } =
      JSON.parse((await run(ask(`${url}/api/acts`))).text)
    const idOf = (act: string) =>
      listed.acts.find((one) => one.act === act && one.reveal?.text === words)?.id ?? assert.fail(act)
    const { page } = await visit("/v2/")
    await lie(page)
    for (const path of [`/witness/${idOf("setWitnessStone")}`, `/acts/${idOf("lightDay")}`]) {
      await page.goto(`${url}${path}`)
      await page.getByText(other).first().waitFor()
      const said = verdict(page).locator(".verdict--broken")
      await said.waitFor()
      assert.match(
        await said.innerText(),
        /^✗\s*These are not the words that were sealed\. Do not rely on them: .* hash to/u,
      )
    }
    await page.goto(`${url}/witness/${idOf("setWitnessStone")}`)
    await page.getByRole("button", { name: "Check stone 1" }).click()
    await status(page).first().waitFor()
    assert.match(await status(page).first().innerText(), /^✗\s*Stone \d+ is not as recorded\./u)
    for (const path of ["/v2/witness", "/v2/candles", "/v2/spirits/moss-hare"]) {
      await page.goto(`${url}${path}`)
      await page.getByText("✗ not the words that were sealed").first().waitFor()
    }
    await page.goto(`${url}/v2/witness`)
    await page.getByRole("button", { name: "Check everything" }).click()
    await status(page).first().waitFor()
    await page.locator(".checks > li", { hasText: "Words: wrong." }).waitFor()
  })

  it("are explained on home by an example, which is computed anew with each letter", async ({ visit }) => {
    const [salt, text] = ["5f0c9a1be27d4438", "The heron will return by May."]
    const { page } = await visit("/v2/")
    const example = page.locator(".example")
    const shown = example.getByLabel("Change a letter")
    assert.strictEqual(await shown.inputValue(), text)
    await example.getByText("It matches.").waitFor()
    await shown.fill(`${text}!`)
    await example.getByText("It does not match.").waitFor()
    const computed = seal(salt, `${text}!`)
    assert.strictEqual(await example.locator("[data-computed]").textContent(), computed)
    await example.getByText(pebbleWords(computed), { exact: true }).waitFor()
    await shown.fill(text)
    await example.getByText("It matches.").waitFor()
    await example.getByText(pebbleWords(seal(salt, text)), { exact: true }).waitFor()
  })
})
