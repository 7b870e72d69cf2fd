/** A page says where to go on: where nothing is chosen, a wallet refuses, or a limit is reached. */
import { buy } from "../lab/buyer/Purchase.ts"
import { assert } from "@effect/vitest"
import type { Page } from "playwright-core"
import { createActs, guide, settled } from "../lab/browser/Guide.ts"
import { takeRealMoney } from "../lab/browser/GuidePage.ts"
import { newCommitment } from "../lab/Fixture.ts"

/** Wallets that announce themselves, whose owner declines to connect. */
const announce = (page: Page, names: ReadonlyArray<string>) =>
  page.addInitScript((all) => {
    const provider = { request: () => Promise.reject(Object.assign(new Error("No."), { code: 4001 })) }
    addEventListener("eip6963:requestProvider", () => {
      for (const name of all)
        dispatchEvent(new CustomEvent("eip6963:announceProvider", { detail: { info: { name }, provider } }))
    })
  }, names)

const pay = (page: Page) => page.getByRole("button", { name: "Set the stone for" })

guide("a buyer", (it) => {
  it("with several wallets is led to the choice, and reads who declined", async ({ visit }) => {
    const { page } = await visit("/api/health")
    await announce(page, ["First wallet", "Second wallet"])
    await takeRealMoney(page, "/v2/stone")
    await page.goto(new URL("/v2/stone", page.url()).href)
    await page.getByLabel("Your words").fill("The heron will return by May.")
    await pay(page).click()
    await page.getByText("Choose how to pay.").waitFor()
    const first = page.getByRole("button", { name: "First wallet" })
    assert.isTrue(await first.evaluate((button) => button === document.activeElement))
    await first.click()
    await page.getByText("Not connected. You declined in your wallet.").waitFor()
    assert.strictEqual(await page.getByText("No wallet.").count(), 0)
  })

  it("without a wallet reads what is needed, and sees the call for an agent", async ({ visit }) => {
    const { page } = await visit("/api/health")
    await takeRealMoney(page, "/v2/stone")
    await page.goto(new URL("/v2/stone", page.url()).href)
    await page.getByLabel("Your words").fill("The heron will return by May.")
    assert.isFalse(await page.locator("#stone-prompt").isVisible())
    await pay(page).click()
    await page.getByText(/^No wallet\. You need a wallet in this browser with USDC on Base/u).waitFor()
    assert.isTrue(await page.getByRole("link", { name: "this call" }).isVisible())
    assert.isTrue(await page.locator("#stone-prompt").isVisible())
  })

  it("at a limit sees the seconds until a retry count down", async ({ visit }) => {
    const { page } = await visit("/v2/stone")
    await page.route("**/api/witness", (route) =>
      route.fulfill({
        status: 429,
        headers: { "retry-after": "2", "access-control-allow-origin": "*" },
        json: {
          ok: false,
          code: "rate_limited",
          message: "Too many requests.",
          retryAfter: 2,
          docs: "/docs/errors#rate_limited",
        },
      }),
    )
    await page.getByRole("button", { name: "Make a play wallet" }).click()
    await page.getByText("Play wallet with").waitFor()
    await page.getByLabel("Your words").fill("The heron will return by May.")
    await pay(page).click()
    const wait = page.getByRole("button", { name: /^Try again in [12] s$/u })
    await wait.waitFor()
    assert.isTrue(await wait.isDisabled())
    await page.getByRole("button", { name: "Try again", exact: true }).waitFor()
  })
})

guide("a phone", (it) => {
  it("shows five links and folds the others, the money once, and the catalog's texts", async ({ run, visit }) => {
    await run(createActs)
    await run(buy("/api/witness", { commitment: newCommitment() }))
    const { page, url } = await visit("/v2/", { viewport: { width: 360, height: 740 } })
    const site = page.getByRole("navigation", { name: "Site" })
    const links = site.getByRole("link")
    const isWhole = (link: Element) => {
      const { height, left, right } = link.getBoundingClientRect()
      return left >= 0 && right <= innerWidth && height >= 44 && link.scrollWidth <= link.clientWidth + 1
    }
    const wholeLinks = async () => {
      for (const link of await links.all()) assert.isTrue(await link.evaluate(isWhole), await link.innerText())
      return links.count()
    }
    assert.strictEqual(await wholeLinks(), 5)
    await site.getByRole("button", { name: "More" }).press("Enter")
    assert.strictEqual(await wholeLinks(), 11)
    await page.keyboard.press("Escape")
    assert.strictEqual(await links.count(), 5)
    const body = await page.locator("body").innerText()
    assert.strictEqual(body.match(/play money/giu)?.length, 1)
    await page.goto(`${url}/v2/catalog`)
    assert.isTrue(await page.locator("#river-clay").getByText("A fistful of clay").isVisible())
    const summary = page.locator("#river-clay .fold > summary")
    await summary.scrollIntoViewIfNeeded()
    const place = await summary.boundingBox()
    await summary.click()
    assert.deepStrictEqual(await summary.boundingBox(), place)
    const item = page.locator("#river-clay")
    const left = item.locator("[data-left]")
    const before = Number(await left.innerText())
    await item.getByRole("button", { name: "Make a play wallet" }).click()
    await item.getByRole("button", { name: "Collect River Clay" }).click()
    await settled(page).waitFor()
    assert.strictEqual(Number(await left.innerText()), before - 1)
  })
})
