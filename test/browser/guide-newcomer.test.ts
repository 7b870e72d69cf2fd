/** A newcomer never reads a browser's own error text, and can retry in place. */
import { buy } from "../lab/buyer/Purchase.ts"
import { assert } from "@effect/vitest"
import type { Page } from "playwright-core"
import { seal } from "../../src/altar/Hashes.ts"
import { guide, settled } from "../lab/browser/Guide.ts"
import { isFocused } from "../lab/browser/GuidePage.ts"
import { write } from "../lab/browser/PrayerPage.ts"
import { reveal } from "../lab/browser/WordsPage.ts"

const foreign = /TypeError|NetworkError|Failed to fetch|dynamically imported|DOMException|Error:|undefined|\[object/u

const isOurs = async (page: Page, state: string) =>
  assert.notMatch(await page.locator("body").innerText(), foreign, state)

guide("a newcomer", (it) => {
  it("without a network reads our message at a stone, and can retry in place", async ({ visit, run }) => {
    const [salt, words] = ["0123456789abcdef", "Offline and back."]
    const { record: stone } = await run(buy("/api/witness", { commitment: seal(salt, words) }))
    // Nothing but what came with the page is there: no part that is fetched when it is asked for.
    const { page } = await visit(`/witness/${stone.id}`)
    const offline = (is: boolean) => page.context().setOffline(is)
    await offline(true)
    await page
      .getByRole("button", { name: /^Check stone/u })
      .first()
      .click()
    await page.getByText("Not checked. You are offline.").waitFor()
    await isOurs(page, "check")
    await reveal(page, salt, words)
    await page.getByText("Not done. You are offline.").waitFor()
    await isOurs(page, "reveal")
    await offline(false)
    await page.locator(".verify [role=status]").getByRole("button", { name: "Try again" }).click()
    await page.locator(".verify [role=status] .verdict--holds").waitFor()
    await page.locator("[data-reveal]").getByRole("button", { name: "Try again" }).click()
    await page.locator("blockquote.words", { hasText: words }).waitFor()
    await page.getByText(/^These words existed on /u).waitFor()
    assert.isTrue(await isFocused(page, "h1"))
  })

  it("without a network reads our message at each step of a payment, and can retry in place", async ({ visit }) => {
    const { page } = await visit("/v2/spirits/slate-lynx")
    const offline = (is: boolean) => page.context().setOffline(is)
    const form = page.getByRole("form", { name: "Leave the prayer" })
    const wallet = form.getByRole("button", { name: "Make a play wallet" })
    await wallet.waitFor()
    await write(page)
    await offline(true)
    await wallet.click()
    await form.getByText("You are offline.", { exact: true }).waitFor()
    await isOurs(page, "wallet")
    await offline(false)
    await page.route("**/sandbox/fund", (route) => route.abort("connectionrefused"))
    await wallet.click()
    await form.getByText("The altar does not answer.", { exact: true }).waitFor()
    await isOurs(page, "funding")
    await page.unrouteAll()
    await wallet.click()
    await form.getByText("Play wallet with").waitFor()
    await offline(true)
    const lay = form.getByRole("button", { name: "Leave the prayer for" })
    await lay.click()
    await form.getByText("You are offline. Nothing was signed.").waitFor()
    await isOurs(page, "pay")
    await offline(false)
    await page.route("**/api/prayers/**", (route) => route.abort("connectionrefused"))
    await form.getByRole("button", { name: "Try again" }).click()
    await form.getByText("The altar does not answer. Nothing was signed.").waitFor()
    const again = form.getByRole("button", { name: "Try again" })
    assert.isTrue(await again.evaluate((button) => button === document.activeElement))
    await isOurs(page, "price")
    await page.unrouteAll()
    await form.getByRole("button", { name: "Try again" }).click()
    await settled(page).waitFor()
  })

  it("with an outdated page is told to reload it, and that nothing was signed", async ({ visit }) => {
    const { page } = await visit("/v2/spirits/midnight-otter")
    const form = page.getByRole("form", { name: "Leave the prayer" })
    await write(page)
    await page.route("**/*.js", (route) => route.fulfill({ status: 404 }))
    await form.getByRole("button", { name: "Leave the prayer for" }).click()
    await form.getByText("The site was updated. Load the page again.").first().waitFor()
    assert.strictEqual(await form.getByRole("button", { name: "Try again" }).count(), 0)
  })
})
