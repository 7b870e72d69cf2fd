/** The first view of every page: few bytes, nothing that moves, and one typeface. */
import { brotliCompressSync } from "node:zlib"
import { assert } from "@effect/vitest"
import type { CDPSession, Page } from "playwright-core"
import { guide } from "../lab/browser/Guide.ts"
import { beside, guidePaths } from "../lab/browser/GuidePaths.ts"
import { take } from "../lab/browser/GuidePage.ts"

/** Bytes as they travel. The style holds six faces and the print style; home has a budget of its own with the typeface. */
const budget = { script: 17_000, box: 23_000, style: 8_600, page: 16_000, all: 300_000, requests: 40, home: 60_000 }

const watchShifts = (page: Page) =>
  page.addInitScript(() => {
    const found: Array<string> = []
    Object.assign(window, { found })
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) {
        const sources: ReadonlyArray<{ node?: Element }> = Reflect.get(entry, "sources") ?? []
        found.push(`${Reflect.get(entry, "value")} ${sources.map(({ node }) => node?.outerHTML?.slice(0, 80)).join()}`)
      }
    }).observe({ type: "layout-shift", buffered: true })
  })

const readThrough = async (page: Page) => {
  await page.evaluate(async () => {
    for (let y = 0; y < document.documentElement.scrollHeight; y += innerHeight / 2) {
      scrollTo({ top: y, behavior: "instant" })
      await new Promise(requestAnimationFrame)
    }
  })
  // A browser does not fetch folded images.
  await page.waitForFunction(() => [...document.images].every((one) => one.complete || !one.checkVisibility()))
}

const weighing = async (network: CDPSession) => {
  const loads = new Map<string, { url: string; type: string; bytes: number }>()
  await network.send("Network.enable")
  network.on("Network.responseReceived", ({ requestId, response: { url }, type }) =>
    loads.set(requestId, { url, type, bytes: 0 }),
  )
  network.on("Network.loadingFinished", ({ encodedDataLength: bytes, requestId }) => {
    const load = loads.get(requestId)
    if (load !== undefined) loads.set(requestId, { ...load, bytes })
  })
  return loads
}

const sum = (loads: Iterable<{ readonly bytes: number }>) => [...loads].reduce((total, { bytes }) => total + bytes, 0)

guide("the first view of", (it) => {
  it("every page does not shift and stays within its budget, 1440 pixels wide", async ({ run, visit }) => {
    const paths = await run(guidePaths)
    const { page, url } = await visit("/api/health", { viewport: { width: 1440, height: 800 } })
    await watchShifts(page)
    const network = await page.context().newCDPSession(page)
    const loads = await weighing(network)
    await network.send("Network.setCacheDisabled", { cacheDisabled: true })
    for (const path of [...paths, ...beside]) {
      loads.clear()
      await page.goto(`${url}${path}`, { waitUntil: "networkidle" })
      await readThrough(page)
      await page.waitForLoadState("networkidle")
      assert.deepStrictEqual(await page.evaluate(() => Reflect.get(window, "found")), [], path)
      if (beside.includes(path)) continue
      const parts = await page
        .locator("[data-renew]")
        .evaluateAll((all) => all.map((part) => part.getAttribute("data-renew")))
      assert.strictEqual(new Set(parts).size, parts.length, `renewed parts of ${path}: ${parts.join(" ")}`)
      const of = (type: string) => sum([...loads.values()].filter((load) => load.type === type))
      assert.isAbove(of("Script"), 1000, path)
      assert.isAtMost(of("Script"), path.startsWith("/v2/mine") ? budget.box : budget.script, `script of ${path}`)
      assert.isAtMost(of("Stylesheet"), budget.style, `style of ${path}`)
      assert.isAtMost(of("Document"), budget.page, `document of ${path}`)
      assert.isAtMost(sum(loads.values()), budget.all, `all of ${path}`)
      assert.isAtMost(loads.size, budget.requests, `requests of ${path}`)
    }
  })

  it("every page does not shift on a phone where the typeface comes late", async ({ run, visit }) => {
    const paths = await run(guidePaths)
    const { page, url } = await visit("/api/health", { viewport: { width: 360, height: 800 } })
    await watchShifts(page)
    await page.route("**/*.woff2", async (route) => {
      await page.waitForFunction(() => performance.getEntriesByName("first-contentful-paint").length > 0)
      await route.continue()
    })
    for (const path of [...paths, ...beside]) {
      await page.goto(`${url}${path}`, { waitUntil: "networkidle" })
      await readThrough(page)
      assert.deepStrictEqual(await page.evaluate(() => Reflect.get(window, "found")), [], path)
    }
  })

  for (const [width, height] of [
    [1440, 900],
    [360, 740],
  ] as const)
    it(`the guide costs at most 60 KB with its typeface, ${width} pixels wide`, async ({ visit }) => {
      const { page, url } = await visit("/api/health", { viewport: { width, height } })
      const loads = await weighing(await page.context().newCDPSession(page))
      await page.goto(`${url}/v2/`, { waitUntil: "networkidle" })
      // An idle browser also fetches drawings that are a page or two away.
      const below = await page.evaluate(() =>
        [...document.images].filter((image) => image.getBoundingClientRect().top > innerHeight).map(({ src }) => src),
      )
      const first = [...loads.values()].filter((load) => !below.includes(load.url))
      for (const face of ["roman", "italic"]) assert.isTrue(first.some((load) => load.url.includes(`vollkorn-${face}`)))
      assert.isAtMost(sum(first), budget.home, JSON.stringify(first))
    })

  it("a page loads the signing code only when a visitor wants to pay", async ({ visit }) => {
    const { page } = await visit("/v2/spirits/silt-salamander")
    const scripts: Array<Promise<Buffer>> = []
    page.on("response", (response) => {
      if (response.url().endsWith(".js")) scripts.push(response.body())
    })
    await take(page, "Lay the prayer")
    const bytes = (await Promise.all(scripts)).reduce((total, body) => total + brotliCompressSync(body).length, 0)
    assert.isAbove(bytes, 10_000)
    assert.isAtMost(bytes, 60_000)
  })

  it("a page is set in the site's two faces, with hashes in a monospaced one", async ({ run, visit }) => {
    await run(guidePaths)
    const { page, url } = await visit("/v2/witness")
    const hashes = await page
      .locator(".link__hash code")
      .first()
      .evaluate((one) => getComputedStyle(one).fontFamily)
    assert.match(hashes, /^ui-monospace/u)
    await page.goto(`${url}/v2/stone`)
    const faces = await page.evaluate(async () => {
      await document.fonts.ready
      const family = (selector: string) => {
        const element = document.querySelector(selector)
        return element === null ? "" : (getComputedStyle(element).fontFamily.split(",")[0] ?? "")
      }
      const loaded = new Set([...document.fonts].filter(({ status }) => status === "loaded").map(({ style }) => style))
      return [[...loaded].sort(), ...["p", ".button", "select.field", "code"].map(family)]
    })
    const [own, mono] = ["Vollkorn", "ui-monospace"]
    assert.deepStrictEqual(faces, [["italic", "normal"], own, own, own, mono])
  })
})
