/** Other visitors' acts appear on an open page: nothing moves, nothing is taken, and silence is asked less. */
import type { Page, Request } from "playwright-core"
import { guide, createAct, signed } from "../lab/browser/Guide.ts"
import { newCommitment } from "../lab/Fixture.ts"
import { shiftsOf, take, watchShifts } from "../lab/browser/GuidePage.ts"
import { watch } from "../lab/browser/PrayerPage.ts"
import { assert, valuesOf } from "../lab/Suites.ts"

const renewUntil = async (page: Page, words: string) => {
  for (const path of ["altars", "field"])
    await page.route(`**/api/${path}`, (route) =>
      route.fulfill({ status: 200, headers: { etag: `"${Math.random()}"` } }),
    )
  const renewed = page.getByText(words).first()
  for (let beat = 0; beat < 4 && !(await renewed.isVisible()); beat++) {
    await page.clock.runFor(10_000)
    await page.waitForLoadState("networkidle")
  }
  await renewed.waitFor()
}

guide("the live field", (it) => {
  it("renews its notes and slots in view, without moving focus or text", async ({ visit, run }) => {
    await run(createAct("/api/prayers/moss-hare", { agentName: "First", intentionCommitment: newCommitment() }))
    for (const dedication of ["One", "Two", "Three"]) await run(createAct("/api/candles/day/moss-hare", { dedication }))
    const { page, url } = await visit("/api/health")
    const asked: Array<{ readonly path: string; readonly tag: string | undefined }> = []
    const answered: Array<number> = []
    page.on("request", (request) => {
      if (request.method() === "HEAD")
        asked.push({ path: new URL(request.url()).pathname, tag: request.headers()["if-none-match"] })
    })
    page.on("response", (response) => {
      if (response.request().method() === "HEAD") answered.push(response.status())
    })
    await watchShifts(page)
    await page.clock.install()
    await page.goto(`${url}/v2/`)
    await page.waitForLoadState("networkidle")
    const beats = async () => {
      for (const _ of [1, 2]) {
        const before = answered.length
        await page.clock.runFor(10_000)
        while (answered.length === before) await page.waitForEvent("response")
        await page.waitForLoadState("networkidle")
      }
    }
    assert.deepStrictEqual(valuesOf(asked, "path"), ["/api/field", "/api/altars"])
    await beats()
    assert.deepStrictEqual(answered, [200, 200, 304, 304])
    assert.isTrue(asked.slice(2).every(({ tag }) => tag !== undefined))
    const link = page.locator("#acts .journal li a").nth(1)
    await link.scrollIntoViewIfNeeded()
    await link.focus()
    const lines = () => page.locator("#acts .journal li").count()
    const before = await lines()
    const place = () =>
      page.evaluate(() => [document.activeElement?.textContent, document.activeElement?.getBoundingClientRect().top])
    const [words, top] = await place()
    await run(createAct("/api/prayers/frost-stoat", { agentName: "Second", intentionCommitment: newCommitment() }))
    const earlier = (await shiftsOf(page)).length
    await beats()
    await page.locator("#acts .journal li", { hasText: "Second laid a prayer with Frost Stoat" }).waitFor()
    assert.strictEqual(await lines(), before + 1)
    assert.include(await page.locator(".entry", { hasText: "Frost Stoat" }).innerText(), "prayer laid")
    assert.match(await page.locator(".state").innerText(), /Prayers today\s+2/u)
    const [now, nowTop] = await place()
    assert.strictEqual(now, words)
    assert.approximately(Number(nowTop), Number(top), 1)
    const shifts = (await shiftsOf(page)).slice(earlier)
    assert.isAtMost(
      shifts.reduce((total, [value]) => total + value, 0),
      0.01,
      String(shifts),
    )
  })

  it("never changes a price in a form that a visitor uses", async ({ visit }) => {
    const { page, url } = await visit("/api/health")
    await page.clock.install()
    await page.goto(`${url}/v2/spirits/static-fox`)
    await take(page, "Lay the prayer")
    const form = page.getByRole("form", { name: "Lay the prayer" })
    await form.getByLabel("Your public name").fill("Wren")
    // From now on the altar asks for twice as much, and its page says so.
    await page.route("**/v2/spirits/static-fox", async (route) => {
      const response = await route.fetch()
      const text = await response.text()
      await route.fulfill({
        response,
        body: text
          .replaceAll('data-amount="10000"', 'data-amount="20000"')
          .replace("Today's slot", "The price changed; today's slot"),
      })
    })
    await page.route("**/api/prayers/**", async (route) => {
      const response = await route.fetch()
      const challenge = JSON.parse(Buffer.from(response.headers()["payment-required"] ?? "", "base64").toString())
      const dearer = { ...challenge, accepts: [{ ...challenge.accepts[0], amount: "20000" }] }
      const header = Buffer.from(JSON.stringify(dearer)).toString("base64")
      await route.fulfill({ response, headers: { ...response.headers(), "payment-required": header } })
    })
    await renewUntil(page, "The price changed")
    await form.getByRole("button", { name: "Lay the prayer for $0.01" }).click()
    await page
      .getByText("The altar asks for 20000 atomic USDC, but this page listed 10000. Nothing was signed.")
      .waitFor()
  })

  it("keeps a form in place while its payment is prepared, wherever the focus is", async ({ visit, run }) => {
    const { page, url } = await visit("/api/health")
    const form = page.getByRole("form", { name: "Lay the prayer" })
    const requests = watch(page)
    const held = Promise.withResolvers<void>()
    await page.clock.install()
    await page.goto(`${url}/v2/spirits/brass-cicada`)
    await page.waitForLoadState("networkidle")
    await page.route("**/sandbox/**", async (route) => {
      await held.promise
      await route.continue()
    })
    await form.getByRole("button", { name: "Lay the prayer for" }).click()
    await form.getByText("Opening a play wallet.").waitFor()
    await page.evaluate(() => document.activeElement instanceof HTMLElement && document.activeElement.blur())
    await run(createAct("/api/prayers/brass-cicada", { agentName: "Faster", intentionCommitment: newCommitment() }))
    await renewUntil(page, "Faster")
    assert.strictEqual(await form.count(), 1)
    held.resolve()
    await form.getByText("Nothing was signed.").waitFor()
    assert.deepStrictEqual(signed(requests), [])
  })

  it("is not polled in a hidden tab or offline, and less often without an answer", async ({ visit }) => {
    const { page, url } = await visit("/api/health")
    let asked = 0
    const open = new Set<Request>()
    page.on("request", (request) => {
      if (request.method() !== "HEAD") return
      asked += 1
      open.add(request)
    })
    page.on("requestfinished", (request) => open.delete(request))
    page.on("requestfailed", (request) => open.delete(request))
    /** The requests for changes while so many milliseconds pass. */
    const during = async (millis: number) => {
      const before = asked
      for (let passed = 0; passed < millis; passed += 5_000) {
        await page.clock.runFor(5_000)
        // Each request completes, and the page shows its answer.
        while (open.size > 0) await page.evaluate(() => undefined)
        await page.evaluate(() => undefined)
      }
      return asked - before
    }
    await page.clock.install()
    await page.goto(`${url}/v2/spirits/moss-hare`)
    await page.waitForLoadState("networkidle")
    const look = (hidden: boolean) =>
      page.evaluate((is) => {
        Object.defineProperty(document, "hidden", { configurable: true, get: () => is })
        document.dispatchEvent(new Event("visibilitychange"))
      }, hidden)
    await look(true)
    assert.strictEqual(await during(60_000), 0)
    await look(false)
    const looked = await during(60_000)
    assert.isAtLeast(looked, 4)
    assert.isAtMost(looked, 7)
    await page.context().setOffline(true)
    await page.getByText("You are offline. This page shows").waitFor()
    assert.strictEqual(await during(60_000), 0)
    await page.context().setOffline(false)
    await page.getByText("You are offline. This page shows").waitFor({ state: "hidden" })
    await page.route(
      (to) => to.pathname.startsWith("/api/"),
      (route) => route.abort("connectionrefused"),
    )
    // After 10, 20, 40, 80 seconds and so on.
    const tried = await during(150_000)
    assert.isAtLeast(tried, 3)
    assert.isAtMost(tried, 5)
  })
})
