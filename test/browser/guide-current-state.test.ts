/** Sentences about an act hold after a purchase or a reveal, on the page that caused it and in every list. */
import { buy, buyForId } from "../lab/buyer/Purchase.ts"
import { assert } from "@effect/vitest"
import type { Page } from "playwright-core"
import { seal } from "../../src/altar/Hashes.ts"
import { guide, settled } from "../lab/browser/Guide.ts"
import { take } from "../lab/browser/GuidePage.ts"
import { cutOff, fundAndLay, refusePaid } from "../lab/browser/PrayerPage.ts"
import { keepsakeOf, reveal, setStone } from "../lab/browser/WordsPage.ts"
import { ask, post } from "../lab/Fixture.ts"

const salt = "0123456789abcdef"

/** The newest entry of My words, unfolded. */
const mine = async (page: Page, url: string) => {
  await page.goto(`${url}/v2/mine`)
  const entry = page.locator(".box > li").first()
  await entry.getByText("Show, save or remove").click()
  await entry.locator(".keepsake").waitFor()
  return entry.innerText()
}

const alone =
  /Sealed here: only in this browser\.[^]*Reveal[^]*Only you have your words and their salt[^]*Your words are in this browser/u
const open = /Opened: everyone can read them\.[^]*Everyone can read the salt and the words/u

guide("my words", (it) => {
  it("are called revealed once everyone can read them by any program, and no earlier", async ({ run, url, visit }) => {
    const { page } = await visit("/v2/stone")
    await setStone(page, "The heron will return by May.")
    await settled(page).waitFor()
    assert.match(await mine(page, url), alone)
    await page.getByRole("link", { name: "Witness stone 1" }).click()
    await page.getByRole("button", { name: "Open it" }).click()
    await page.getByRole("button", { name: "Reveal to everyone" }).click()
    await page.locator("#check").getByText("Everyone can read and check these words now.").waitFor()
    const revealed = await mine(page, url)
    assert.match(revealed, open)
    assert.notMatch(revealed, /Only|Reveal/u)

    // Words that the altar stores and does not show are still their owner's alone.
    await page.goto(`${url}/v2/stone`)
    await page.locator("#stone-words").fill("See https://example.com for more.")
    await page.getByRole("button", { name: "Set the stone for" }).click()
    await settled(page).waitFor()
    await page.getByRole("link", { name: "See your stone" }).click()
    await page.getByRole("button", { name: "Open it" }).click()
    await page.getByRole("button", { name: "Reveal to everyone" }).click()
    await page.locator("#check").getByText("shows neither them nor their salt").waitFor()
    assert.strictEqual(await page.getByText("Everyone can read").count(), 0)
    assert.match(await mine(page, url), alone)

    // Revealed by another program, and seen on any page.
    await page.goto(`${url}/v2/stone`)
    await page.locator("#stone-words").fill("Snow before the ninth.")
    await page.getByRole("button", { name: "Set the stone for" }).click()
    await settled(page).waitFor()
    const kept = await keepsakeOf(page)
    const path = await page.getByRole("link", { name: "See your stone" }).getAttribute("href")
    const at = `${url}/api${path}/reveal`
    assert.strictEqual((await run(ask(at, post({ salt: kept.salt, text: kept.words })))).status, 201)
    await page.goto(`${url}/v2/witness`)
    await page.getByText("Snow before the ninth.").waitFor()
    assert.match(await mine(page, url), open)
  })
})

guide("a page", (it) => {
  it("says that a candle was unsealed, and checks no file of a revealed stone", async ({ run, url, visit }) => {
    const words = "For her."
    const dedication = "For Grandma, who kept bees"
    const { record: candle } = await run(
      buy("/api/candles/day/moss-hare", { dedication, intentionCommitment: seal(salt, words) }),
    )
    const { page } = await visit(`/acts/${candle.id}`)
    const note = page.locator("#check .head__note")
    assert.strictEqual(await note.innerText(), "The candle carries them until they are unsealed.")
    await reveal(page, salt, words)
    await page.locator("#check").getByText("Revealed.").waitFor()
    await note.filter({ hasText: "Their owner unsealed them." }).waitFor()
    assert.strictEqual(await page.getByText("until they are unsealed").count(), 0)

    const { record: stone } = await run(buy("/api/witness", { commitment: seal(salt, words), kind: "hash" }))
    await page.goto(`${url}/witness/${stone.id}`)
    await page.locator("[data-file-check]").waitFor()
    await reveal(page, salt, words)
    await page.locator("#check").getByText("Revealed.").waitFor()
    assert.strictEqual(await page.locator("[data-file-check]").count(), 0)
    await page.reload()
    await page.getByText("Witnessed").first().waitFor({ state: "attached" })
    assert.strictEqual(await page.locator("[data-file-check]").count(), 0)
    assert.strictEqual(await page.getByText("If it was a text").count(), 0)
  })

  it("separates what it says about a candle", async ({ run, url, visit }) => {
    const [bare, sealed, opened] = await Promise.all(
      [undefined, seal(salt, "For him."), seal(salt, "For them.")].map(async (intentionCommitment, index) => {
        const dedication = `Candle ${index}`
        const body = { dedication, ...(intentionCommitment !== undefined && { intentionCommitment }) }
        const id = await run(buyForId("/api/candles/week/kelp-seal", body))
        await run(buy("/api/candles/day/kelp-seal", { parentId: id }))
        return id
      }),
    )
    await run(ask(`${url}/api/candles/${opened}/unseal`, post({ salt, words: "For them." })))
    const { page } = await visit("/v2/candles")
    const left = "6 days and 23 hours left, until [^,]+, \\d\\d:\\d\\d UTC, 1 light added"
    for (const path of ["/v2/candles", "/v2/spirits/kelp-seal"]) {
      await page.goto(`${url}${path}`)
      for (const [id, end] of [
        [bare, ""],
        [sealed, ", sealed words inside"],
        [opened, ', [“"]?For them\\.[”"]?'],
      ]) {
        const text = (await page.locator(`#candle-${id} .small`).textContent()) ?? ""
        assert.match(text.replaceAll(/\s+/gu, " ").trim(), new RegExp(`${left}${end}$`, "u"), path)
      }
    }
  })

  it("of a spirit shows the candle and the keeper that were just bought there", async ({ visit }) => {
    const { page } = await visit("/v2/spirits/dew-spider")
    await take(page, "Leave the prayer")
    await page.locator("#candles").getByText("Light a candle here").click()
    await page.locator("#candle-dedication").fill("For a quiet web")
    await page.getByRole("button", { name: "Light the candle for" }).click()
    await page.locator("#candles .votive", { hasText: "For a quiet web" }).waitFor()
    await page.locator("#candles .head__note", { hasText: "1 candle lit" }).waitFor()
    assert.strictEqual(await page.getByText(/No candles yet|None lit/u).count(), 0)
    await settled(page).waitFor()
    await page.getByText("Become the first keeper").click()
    await page.getByRole("button", { name: "Keep Dew Spider for" }).click()
    await page.locator("#keeper").getByText("Kept by").waitFor()
    assert.strictEqual(await page.getByText("has no keeper yet").count(), 0)
  })

  it("of a candle sells it a light, which then burns beside it on the wall", async ({ run, visit }) => {
    const id = await run(buyForId("/api/candles/week/kelp-seal", { dedication: "For the bees" }))
    const { page, url } = await visit(`/acts/${id}`)
    await page.getByText("Add a light to this candle").click()
    await take(page, "Add the light")
    await page.getByRole("button", { name: "Add the light for $1.00" }).click()
    await settled(page).waitFor()
    const { text } = await run(ask(`${url}/api/candles?spirit=kelp-seal`))
    const { candles } = JSON.parse(text)
    assert.deepStrictEqual([candles[0].id, candles[0].lightCount], [id, 1])
    await page.goto(`${url}/v2/candles`)
    await page.locator(`#candle-${id}`, { hasText: "1 light added" }).waitFor()
  })

  it("no longer says that a refused payment is kept until it settles", async ({ url, visit }) => {
    const { page } = await visit("/v2/spirits/slate-lynx")
    await cutOff(page)
    await fundAndLay(page)
    await page.getByText("not paying again").waitFor()
    await page.unrouteAll()
    await refusePaid(page, 409, "payment_authorization_already_bound", "This payment belongs to another purchase.")
    await page.goto(`${url}/v2/mine`)
    const box = page.getByRole("region", { name: "Your purchase" })
    await box.getByText("This payment belongs to another purchase.").waitFor()
    assert.include(await box.innerText(), "Prayer with Slate Lynx, $0.01.")
    assert.notMatch(await box.innerText(), /has not settled yet|until it settles/u)
  })
})
