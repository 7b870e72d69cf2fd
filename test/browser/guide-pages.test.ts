/** Every page of the guide: for everybody, without script, within its budget, and honest when something is missing. */
import { brotliCompressSync } from "node:zlib"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import type { Page } from "playwright-core"
import { spirits } from "../../src/altar/guide/Spirits.ts"
import { isAccessible, picture, steps, visit } from "../support/Browser.ts"
import { guide, inhabit, leave } from "../support/Guide.ts"
import { ask, World } from "../support/World.ts"

const still = ["/v2/", "/v2/spirits/moss-hare", "/v2/spirits/kelp-seal", "/v2/candles", "/v2/candles?spirit=dew-spider"]
const others = ["/v2/witness", "/v2/witness?q=nothing", "/v2/catalog", "/acts/lost", "/v2/spirits/unicorn"]

/** The pages above, and those of the acts that were left. */
const paths = Effect.gen(function* () {
  const { url } = yield* World
  const { acts }: { acts: ReadonlyArray<{ permalink: string; act: string }> } = JSON.parse(
    (yield* ask(`${url}/api/acts`)).text,
  )
  if (acts.length === 0) {
    yield* inhabit
    yield* leave("/api/candles/day/moss-hare", { dedication: "For Grandma, who kept bees" })
  }
  const now: { acts: typeof acts } = JSON.parse((yield* ask(`${url}/api/acts`)).text)
  return [...still, ...others, ...now.acts.map(({ permalink }) => new URL(permalink).pathname)]
})

const nameOf = (path: string) => `guide${path.replace(/[^a-z0-9]+/gu, "-").slice(0, 40)}`

/** Opens every fold, so that what is in it is looked at too. */
const unfold = (page: Page) =>
  page.locator("details").evaluateAll((all) => all.forEach((one) => one.setAttribute("open", "")))

/** Wide text would make the page wider than the window. */
const overflow = (page: Page) => page.evaluate(() => document.documentElement.scrollWidth - innerWidth)

guide("the field guide", (it) => {
  for (const colorScheme of ["light", "dark"] as const) {
    it.effect(`is accessible on every page, at 320 pixels and wide, ${colorScheme}`, () =>
      Effect.gen(function* () {
        const all = yield* paths
        for (const width of [320, 1440]) {
          const { page, url } = yield* visit("/v2/", {
            bypassCSP: true,
            colorScheme,
            viewport: { width, height: 900 },
            reducedMotion: "reduce",
          })
          yield* steps(async () => {
            for (const path of all) {
              await page.goto(`${url}${path}`)
              await unfold(page)
              await isAccessible(page, `${path} ${width}`)
              assert.isAtMost(await overflow(page), 0, `${path} is wider than ${width} pixels`)
              await picture(page, `${nameOf(path)}-${colorScheme}-${width}`)
            }
          })
        }
      }),
    )
  }

  it.effect("is accessible in forced colours and while it checks, pays and refuses", () =>
    Effect.gen(function* () {
      yield* paths
      const { page, url } = yield* visit("/v2/witness", { bypassCSP: true, forcedColors: "active" })
      yield* steps(async () => {
        await page
          .getByRole("button", { name: /^Check stone/u })
          .first()
          .click()
        await page.locator("[data-verify-status] .verdict--holds").waitFor()
        await isAccessible(page, "checked")
        await page.goto(`${url}/v2/spirits/frost-stoat`)
        await page.locator("#prayer").getByRole("button", { name: "Make a play wallet" }).click()
        await page.getByText("Play wallet with").first().waitFor()
        await page.getByRole("button", { name: "Lay the prayer" }).click()
        await page.getByText("Settled.").waitFor()
        await isAccessible(page, "settled")
      })
    }),
  )

  it.effect("complains of nothing, loads little and does not move", () =>
    Effect.gen(function* () {
      const all = yield* paths
      const { complaints, page, url } = yield* visit("/api/health")
      yield* steps(async () => {
        await page.addInitScript(() => {
          Object.assign(window, { shifted: 0 })
          new PerformanceObserver((list) => {
            for (const entry of list.getEntries()) {
              Object.assign(window, { shifted: Reflect.get(window, "shifted") + Reflect.get(entry, "value") })
            }
          }).observe({ type: "layout-shift", buffered: true })
        })
        // A page with a route of its own has no cache: each page is a first view.
        await page.route("**", (route) => route.continue())
        let scripts: Array<Promise<Buffer>> = []
        let asked = 0
        page.on("response", (response) => {
          asked += 1
          if (response.url().endsWith(".js")) scripts.push(response.body())
        })
        for (const path of all) {
          scripts = []
          asked = 0
          await page.goto(`${url}${path}`, { waitUntil: "networkidle" })
          const bytes = (await Promise.all(scripts)).reduce((sum, body) => sum + brotliCompressSync(body).length, 0)
          assert.isAbove(bytes, 1000, path)
          assert.isAtMost(bytes, 12_000, `${path} loads ${bytes} bytes of script`)
          assert.isAtMost(asked, 40, `${path} makes ${asked} requests`)
          assert.isAtMost(await page.evaluate(() => Reflect.get(window, "shifted")), 0.01, `${path} shifts`)
        }
      })
      assert.deepStrictEqual(complaints, [])
    }),
  )

  it.effect("can be read, searched and walked without script", () =>
    Effect.gen(function* () {
      yield* paths
      const { page, url } = yield* visit("/v2/", { javaScriptEnabled: false })
      yield* steps(async () => {
        assert.deepStrictEqual(
          (await page.locator(".entry__name").allInnerTexts()).sort(),
          spirits.map(({ name }) => name).sort(),
        )
        await page.getByRole("link", { name: "Kelp Seal", exact: true }).click()
        await page.getByRole("heading", { name: "Kelp Seal" }).waitFor()
        assert.include(await page.locator("#keeper").innerText(), "Kept by")
        assert.include(await page.locator("#prayer").innerText(), "Paying from this page needs script.")
        assert.isFalse(await page.getByRole("button", { name: "Lay the prayer" }).isVisible())
        await page.goto(`${url}/v2/witness`)
        await page.getByLabel("Id, sequence").fill("1")
        await page.getByRole("button", { name: "Search" }).click()
        await page.getByRole("heading", { name: "Witness stone 1" }).waitFor()
        // The heading can be there before the style that hides what needs script.
        await page.waitForLoadState("load")
        assert.isFalse(await page.getByRole("button", { name: "Check without sending" }).isVisible())
        await page.goto(`${url}/v2/candles`)
        assert.match(
          await page.locator(".votive").first().innerText(),
          /For Grandma, who kept bees[^]*23 hours and \d+ minutes left/u,
        )
        await page.getByLabel("Altar").selectOption("dew-spider")
        await page.getByRole("button", { name: "Show" }).click()
        await page.getByText("The shelf is empty.").waitFor()
      })
    }),
  )

  it.effect("says when it is offline, and that nothing was signed then", () =>
    Effect.gen(function* () {
      const { page } = yield* visit("/v2/spirits/cloud-tapir")
      yield* steps(async () => {
        await page.locator("#prayer").getByRole("button", { name: "Make a play wallet" }).click()
        await page.getByText("Play wallet with").first().waitFor()
        await page.context().setOffline(true)
        await page.getByText("You are offline. What you see").waitFor()
        await page.getByRole("button", { name: "Lay the prayer" }).click()
        await page.getByText("You are offline. Nothing was signed.").waitFor()
        await page.context().setOffline(false)
        await page.getByText("You are offline. What you see").waitFor({ state: "hidden" })
      })
    }),
  )
})

guide(
  "a guide without payments",
  (it) => {
    it.effect("says what is missing, offers nothing to pay, and is read as ever", () =>
      Effect.gen(function* () {
        const { page, url } = yield* visit("/v2/spirits/moss-hare", { bypassCSP: true })
        yield* steps(async () => {
          for (const path of ["/v2/spirits/moss-hare", "/v2/witness", "/v2/catalog"]) {
            await page.goto(`${url}${path}`)
            const notice = page.getByRole("note")
            assert.match(await notice.first().innerText(), /Payments are not configured[^]*Missing: PAY_TO, RPC_URL/u)
            assert.strictEqual(await page.locator("[data-pay]").count(), 0, path)
            await isAccessible(page, path)
            await picture(page, `${nameOf(path)}-not-configured`)
          }
          await page.goto(`${url}/v2/`)
          await page.getByText("Nothing has been laid here yet.").waitFor()
          assert.match(await page.locator(".state").innerText(), /none yet/u)
        })
      }),
    )
  },
  { payments: ["PAY_TO", "RPC_URL"] },
)
