/** Home says what the altar is for: an example whose fingerprint is computed anew, and whether its money is real. */
import { assert } from "@effect/vitest"
import { seal } from "../../src/altar/Hashes.ts"
import { guide, createAct } from "../lab/browser/Guide.ts"
import { isAccessible } from "../lab/browser/Browser.ts"
import { shifted, watchShifts } from "../lab/browser/GuidePage.ts"
import { ask, post } from "../lab/Fixture.ts"

const afterOf = (selector: string) => {
  const element = document.querySelector(selector)
  return element === null ? "none" : getComputedStyle(element, "::after").content
}

guide("the example on home", (it) => {
  it("shows one changed letter as changed, and the original as original", async ({ visit }) => {
    const { page, url } = await visit("/api/health", { bypassCSP: true })
    await watchShifts(page)
    await page.goto(`${url}/v2/`)
    const example = page.locator(".example")
    const words = example.getByLabel("Words")
    const recorded = await example.locator("[data-example]").getAttribute("data-example")
    assert.strictEqual(recorded, seal("5f0c9a1be27d4438", await words.inputValue()))
    await example.getByText("An example; no one has set it here.").waitFor()
    await example.getByText("It matches.").waitFor()
    await words.fill("The heron will return by Mai.")
    await example.getByText("It does not match.").waitFor()
    const computed = await example.locator("[data-computed]").innerText()
    assert.strictEqual(computed, seal("5f0c9a1be27d4438", "The heron will return by Mai."))
    await isAccessible(page, "a changed example")
    await words.fill("The heron will return by May.")
    await example.getByText("It matches.").waitFor()
    assert.strictEqual(await shifted(page), 0)
  })

  it("is this altar's newest revealed stone", async ({ run, url, visit }) => {
    const [salt, text] = ["fedcba9876543210", "<b>Snow</b> before\nthe ninth."]
    const stone = await run(createAct("/api/witness", { commitment: seal(salt, text), kind: "prediction" }))
    await run(ask(`${url}/api/witness/${stone.id}/reveal`, post({ salt, text })))
    const { page } = await visit("/v2/")
    const example = page.locator(".example")
    assert.strictEqual(await example.getByLabel("Words").inputValue(), text)
    await example.getByText("It matches.").waitFor()
    assert.strictEqual(
      await example.getByRole("link", { name: "witness stone 1" }).getAttribute("href"),
      `/witness/${stone.id}`,
    )
  })

  it("shows words, salt and fingerprint without script, and claims no check", async ({ visit }) => {
    const { page } = await visit("/v2/", { javaScriptEnabled: false })
    assert.match(await page.locator(".example").innerText(), /Salt[^]*Recorded\s+[0-9a-f]{64}/u)
    assert.isFalse(await page.locator("[data-computed]").isVisible())
    assert.strictEqual(await page.locator(".example .verdict").count(), 0)
  })
})

guide("a sandbox", (it) => {
  it("says beside every price that its money is play money", async ({ visit }) => {
    const { page } = await visit("/v2/spirits/moss-hare")
    assert.strictEqual(await page.evaluate(afterOf, "[data-price]"), `" (play money)"`)
    assert.notInclude(await page.content(), "faucet.circle.com")
  })
})

guide(
  "an altar on a test network",
  (it) => {
    it("says on every page and beside every price that its money is test money", async ({ visit }) => {
      const { page } = await visit("/v2/spirits/moss-hare")
      assert.match(await page.locator(".money").innerText(), /^Test network\.[^]*free at Circle's faucet/u)
      await page.getByText("No wallet in this browser?").first().click()
      await page.getByText("Enter your wallet's address at Circle's faucet").first().waitFor()
      assert.strictEqual(await page.evaluate(afterOf, "[data-price]"), `" (test money)"`)
    })
  },
  {},
  {},
  { isPlayMoney: false },
)
