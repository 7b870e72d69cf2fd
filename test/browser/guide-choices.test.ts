/** A page says where to go on: where nothing is chosen, a wallet refuses, or a limit is reached. */
import { assert } from "@effect/vitest"
import type { Page } from "playwright-core"
import { guide } from "../lab/browser/Guide.ts"

/** The page as a server writes it that takes real money. */
const takeRealMoney = (page: Page) =>
  page.route(
    (url) => url.pathname === "/v2/stone",
    async (route) => {
      const response = await route.fetch()
      await route.fulfill({ response, body: (await response.text()).replaceAll("data-play", "data-real") })
    },
  )

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
    await takeRealMoney(page)
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
    await takeRealMoney(page)
    await page.goto(new URL("/v2/stone", page.url()).href)
    await page.getByLabel("Your words").fill("The heron will return by May.")
    assert.isFalse(await page.locator("#stone-text").isVisible())
    await pay(page).click()
    await page.getByText(/^No wallet\. You need a wallet in this browser with USDC on Base/u).waitFor()
    assert.isTrue(await page.locator("#stone-text").isVisible())
    assert.isTrue(await page.locator("#stone-prompt").isVisible())
  })

  it("at a limit sees the seconds until a retry count down", async ({ visit }) => {
    const { page } = await visit("/v2/stone")
    await page.route("**/api/witness", (route) =>
      route.fulfill({
        status: 429,
        headers: { "retry-after": "2", "access-control-allow-origin": "*" },
        json: { ok: false, code: "rate_limited", message: "Too many requests.", retryAfter: 2 },
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
