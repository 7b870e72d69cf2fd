/** A payment whose answer is lost, late or unclear: the page asks how it ended, and never pays again. */
import { assert } from "@effect/vitest"
import { Duration } from "effect"
import type { Page } from "playwright-core"
import { LocalChain } from "../../src/sandbox/LocalChain.ts"
import { ends, listen } from "../lab/browser/Announcements.ts"
import { isAccessible } from "../lab/browser/Browser.ts"
import { fill, guide, guideOf, settled, signed } from "../lab/browser/Guide.ts"
import { chainClient } from "../lab/Chain.ts"
import { forbidStorage } from "../lab/browser/GuidePage.ts"
import { attempts, attemptsAt, cutOff, fund, kept, lay, restore, unsigned, watch } from "../lab/browser/PrayerPage.ts"
import { valuesOf } from "../lab/Assertions.ts"

const reconnect = (page: Page) => page.unrouteAll({ behavior: "ignoreErrors" })
const asking = (page: Page) => page.getByText("not paying again").waitFor()

const reloaded = async (page: Page) => {
  await asking(page)
  await reconnect(page)
  await page.reload()
  return page
}

interface Loss {
  readonly spirit: string
  readonly before?: (page: Page) => Promise<unknown>
  /** The failures of an interrupted page; the page that finishes the purchase. */
  readonly after: (page: Page) => Promise<Page>
}

const losses: Readonly<Record<string, Loss>> = {
  "never arrived is sent again after a reload": {
    spirit: "library-moth",
    after: reloaded,
  },
  "lost its tab is finished by the next one": {
    spirit: "brass-cicada",
    after: async (page) => {
      const next = await page.context().newPage()
      await asking(page)
      await page.close()
      await next.goto(page.url().replace(/\/v2\/.*/u, "/v2/catalog"))
      return next
    },
  },
  "another page leaves no room for is still kept, in the room that was reserved": {
    spirit: "lichen-yak",
    before: (page) =>
      page.route("**/api/prayers/lichen-yak", async (route) => {
        await fill(page, 0)
        await route.fallback()
      }),
    after: reloaded,
  },
  "was signed after its restored tab is finished by that tab": {
    spirit: "atlas-sandpiper",
    after: async (page) => {
      await asking(page)
      await restore(page, await unsigned(page))
      await page.reload()
      await asking(page)
      await reconnect(page)
      return page
    },
  },
}

guide("a prayer that", (it) => {
  for (const [what, { after, before, spirit }] of Object.entries(losses))
    it(`${what}, with one signature and the same words`, async ({ run, visit }) => {
      const { page } = await visit(`/v2/spirits/${spirit}`)
      const requests = watch(page)
      page.context().on("page", (next) => next.on("request", (request) => requests.push(request)))
      await cutOff(page)
      await before?.(page)
      await fund(page)
      await page.getByLabel("Your words").first().fill(`Words for ${spirit}.`)
      await lay(page).click()
      const last = await after(page)
      await settled(last).waitFor()
      const keepsake = last.locator(".keepsake")
      assert.include(await keepsake.textContent(), `Words for ${spirit}.`)
      if (last !== page) {
        const { commitment } = JSON.parse((await keepsake.locator("code").textContent()) ?? "")
        assert.deepStrictEqual(await kept(last), [`altar:words:${commitment}`])
      }
      const sent = signed(requests)
      assert.isAtLeast(sent.length, 2)
      assert.strictEqual(new Set(sent.map(({ key, payment }) => `${key} ${payment}`)).size, 1)
      const made = await run(attemptsAt(spirit))
      assert.deepStrictEqual(valuesOf(made, "state"), ["settled"])
    })
})

const unkept: Readonly<Record<string, (page: Page) => Promise<unknown>>> = {
  "has no room": (page) => fill(page, 700),
  "forbids storage": (page) => forbidStorage(page).then(() => page.reload()),
}

guide("a browser that", (it) => {
  for (const [what, spoil] of Object.entries(unkept))
    it(`${what} signs nothing, because a signed payment must outlive its page`, async ({ run, visit }) => {
      const { page } = await visit("/v2/spirits/ribbon-eel")
      const requests = watch(page)
      await spoil(page)
      await fund(page)
      await page.getByLabel("Your words").first().fill("Nothing is kept.")
      await lay(page).click()
      await page.getByText("This browser saves nothing for this site").waitFor()
      assert.deepStrictEqual(signed(requests), [])
      assert.deepStrictEqual(await run(attemptsAt("ribbon-eel")), [])
    })
})

guide("a signed payment", (it) => {
  it("that finds no room in the browser is not sent", async ({ run, visit }) => {
    const { page } = await visit("/v2/spirits/cloud-tapir")
    const requests = watch(page)
    await page.route("**/api/prayers/cloud-tapir", async (route) => {
      await page.evaluate(() => localStorage.removeItem("altar:reserved"))
      await fill(page, 0)
      await route.fallback()
    })
    await fund(page)
    await page.getByLabel("Your words").first().fill("Nothing is sent.")
    await lay(page).click()
    await page.getByText("has no room for the signed payment, so it was not sent. Nothing was charged.").waitFor()
    assert.deepStrictEqual(signed(requests), [])
    assert.deepStrictEqual(await run(attemptsAt("cloud-tapir")), [])
  })
})

guideOf({}, { patience: Duration.seconds(1) })("a payment that the chain settles late", (it) => {
  const pending = "Not known yet. Asking again, not paying again."

  it("stays open over a reload and another page, and ends there once", async ({ run, visit }) => {
    const anvil = chainClient((await run(LocalChain)).rpcUrl)
    const { page, url } = await visit("/v2/spirits/kelp-seal", { bypassCSP: true })
    const requests = watch(page)
    await listen(page)
    await fund(page)
    await anvil.setAutomine(false)
    await lay(page).click()
    await page.getByText(pending).waitFor()
    await page.reload()
    await page.getByRole("region", { name: "Your open purchase" }).waitFor()
    await page.getByText("A payment in flight holds today's prayer.").waitFor()
    await page.getByText(pending).waitFor()
    await isAccessible(page, "pending after a reload")
    await page.goto(`${url}/v2/catalog`)
    await page.getByText(pending).waitFor()
    const region = page.locator("[role=status]", { has: page.getByText(pending) })
    await region.evaluate((element) => element.setAttribute("data-before", ""))
    assert.strictEqual(signed(requests).length, 1)
    await anvil.setAutomine(true)
    await anvil.mine({ blocks: 1 })
    await settled(page).waitFor()
    assert.include(await page.locator("[data-before]").innerText(), "Settled.")
    const receipt = page.locator(".receipt")
    assert.isTrue(await receipt.evaluate((one) => one === document.activeElement))
    const top = await receipt.evaluate((one) => one.getBoundingClientRect().top / innerHeight)
    assert.isTrue(top >= 0 && top < 1, `at ${top} of the window`)
    assert.deepStrictEqual(await ends(page), ["Settled. You paid $0.01."])
    assert.include(await page.locator(".keepsake").textContent(), "I came by, and it was quiet.")
    assert.strictEqual(signed(requests).length, 1)
    assert.isAtLeast(requests.filter((request) => request.url().includes("/api/reconcile/")).length, 2)
    const [attempt, ...others] = await run(attempts)
    assert.deepStrictEqual([attempt?.state, others], ["settled", []])
  })
})
