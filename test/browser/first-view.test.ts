/** The first view of every page: few bytes, and nothing that moves. */
import { assert } from "@effect/vitest"
import type { Page } from "playwright-core"
import { guide } from "../lab/browser/Guide.ts"
import { shiftsOf, watchShifts } from "../lab/browser/GuidePage.ts"
import { beside, guidePaths } from "../lab/browser/GuidePaths.ts"

/** Bytes as they travel. The code that signs a payment does not fit: it comes when a visitor wants to pay. */
const budget = { script: 26_000, style: 7_000, page: 13_000, first: 100_000, all: 160_000, requests: 40 }

/** Opens a page, until its typefaces are there and it has nothing to do. */
const open = async (page: Page, url: string) => {
  await page.goto(url)
  await page.evaluate(async () => {
    await document.fonts.ready
    await new Promise((resolve) => requestIdleCallback(() => requestIdleCallback(resolve)))
  })
}

/** Scrolls through the page, through the beginning of a long one; nothing moved on it. */
const standsStill = async (page: Page, path: string) => {
  await page.evaluate(async () => {
    for (let y = 0; y < Math.min(10_000, document.documentElement.scrollHeight); y += innerHeight) {
      scrollTo({ top: y, behavior: "instant" })
      await new Promise(requestAnimationFrame)
    }
  })
  // A browser does not fetch folded images.
  await page.waitForFunction(() => [...document.images].every((one) => one.complete || !one.checkVisibility()))
  assert.deepStrictEqual(await shiftsOf(page), [], path)
}

const sum = (loads: Iterable<{ readonly bytes: number }>) => [...loads].reduce((total, { bytes }) => total + bytes, 0)

guide("the first view of", (it) => {
  it("every page does not shift and stays within its budget, 1440 pixels wide", async ({ run, visit }) => {
    const paths = await run(guidePaths)
    const { page, url } = await visit("/api/health", { viewport: { width: 1440, height: 800 } })
    await watchShifts(page)
    const network = await page.context().newCDPSession(page)
    const loads = new Map<string, { readonly type: string; readonly url: string; readonly bytes: number }>()
    let shown = ""
    network.on("Network.responseReceived", ({ loaderId, requestId, response: { url }, type }) => {
      if (type === "Document") {
        loads.clear()
        shown = loaderId
      }
      // Code that the page before asked for may still arrive.
      if (loaderId === shown) loads.set(requestId, { type, url, bytes: 0 })
    })
    network.on("Network.loadingFinished", ({ encodedDataLength: bytes, requestId }) => {
      const load = loads.get(requestId)
      if (load !== undefined) loads.set(requestId, { ...load, bytes })
    })
    await network.send("Network.enable")
    await network.send("Network.setCacheDisabled", { cacheDisabled: true })
    for (const path of [...paths, ...beside]) {
      await open(page, `${url}${path}`)
      // An idle browser also fetches drawings that are a page or two away.
      const below = await page.evaluate(() =>
        [...document.images].filter((image) => image.getBoundingClientRect().top > innerHeight).map(({ src }) => src),
      )
      const first = sum([...loads.values()].filter((load) => !below.includes(load.url)))
      await standsStill(page, path)
      assert.isAtMost(first, budget.first, `first view of ${path}`)
      if (beside.includes(path)) continue
      const of = (type: string) => sum([...loads.values()].filter((load) => load.type === type))
      assert.isAbove(of("Script"), 1000, path)
      assert.isAtMost(of("Script"), budget.script, `script of ${path}`)
      assert.isAtMost(of("Stylesheet"), budget.style, `style of ${path}`)
      assert.isAtMost(of("Document"), budget.page, `document of ${path}`)
      assert.isAtMost(sum(loads.values()), budget.all, `all of ${path}`)
      assert.isAtMost(loads.size, budget.requests, `requests of ${path}`)
    }
  })

  it("every kind of page does not shift on a phone where the typeface comes late", async ({ run, visit }) => {
    const paths = (await run(guidePaths)).filter((path) => !path.includes("?"))
    const { page, url } = await visit("/api/health", { viewport: { width: 360, height: 800 } })
    await watchShifts(page)
    await page.route("**/*.woff2", async (route) => {
      await page.waitForFunction(() => performance.getEntriesByName("first-contentful-paint").length > 0)
      await route.continue()
    })
    for (const path of [...paths, ...beside]) {
      await open(page, `${url}${path}`)
      await standsStill(page, path)
    }
  })
})
