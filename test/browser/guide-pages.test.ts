/** Every page of the guide: for everybody, without script, within its budget, and honest when something is missing. */
import { brotliCompressSync } from "node:zlib"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import type { Page } from "playwright-core"
import { spirits } from "../../src/altar/Spirits.ts"
import {
  isAccessible,
  type Appearance,
  appearancesOf,
  assertAppearance,
  picture,
  steps,
  visit,
} from "../lab/browser/Browser.ts"
import { fillGuide, guide, createActs, createAct } from "../lab/browser/Guide.ts"
import { shifted, watchShifts } from "../lab/browser/GuidePage.ts"
import { patience } from "../lab/Patience.ts"
import { ask, newCommitment, TestServer } from "../lab/Fixture.ts"

const still = [
  "/v2/",
  "/v2/spirits/moss-hare",
  "/v2/spirits/quartz-elephant",
  "/v2/spirits/rain-crow",
  "/v2/candles",
  "/v2/candles?spirit=dew-spider",
  "/v2/witness",
  "/v2/witness?q=nothing",
  "/v2/catalog",
  "/v2/mine",
  `/v2/mine?wallet=0x${"1".repeat(40)}`,
  "/v2/mine?wallet=nobody",
  "/acts/lost",
  "/v2/spirits/unicorn",
]

/** Pages without a budget. */
const beside = ["/v2/log", "/v2/nowhere", "/terms", "/privacy", "/for-agents", "/signals/"]

const forced: Appearance = { width: 720, colorScheme: "light", forcedColors: "active" }

interface Listed {
  readonly act: string
  readonly permalink: string
}

/** The pages above, and those of one act of each kind that others have left. */
const paths = Effect.gen(function* () {
  const { url } = yield* TestServer
  const read = ask(`${url}/api/acts?limit=50`)
  const { acts }: { acts: ReadonlyArray<Listed> } = JSON.parse((yield* read).text)
  if (acts.length === 0) {
    yield* createActs
    yield* createAct("/api/candles/day/moss-hare", { dedication: "For Grandma, who kept bees" })
    yield* fillGuide
  }
  const now: { acts: ReadonlyArray<Listed> } = JSON.parse((yield* read).text)
  const kinds = new Map(now.acts.map(({ act, permalink }) => [act, new URL(permalink).pathname]))
  return [...still, ...kinds.values()]
})

/** What a page may cost a reader at first sight and to its last line, in bytes as they travel, and in requests. */
// The style holds six faces of the typeface and what is printed; with the typeface, home has a budget of its own.
const budget = { script: 17_000, box: 23_000, style: 8_600, page: 16_000, all: 300_000, requests: 40 }

const nameOf = (path: string) => `guide${path.replace(/[^a-z0-9]+/gu, "-").slice(0, 40)}`

/** Opens every fold, so that what is in it is looked at too. */
const unfold = (page: Page) =>
  page.locator("details").evaluateAll((all) => all.forEach((one) => one.setAttribute("open", "")))

guide("the field guide", (it) => {
  it.effect(
    "is accessible and no wider than the window on every page, 320 and 1440 pixels wide, light and dark, and in forced colours",
    () =>
      Effect.gen(function* () {
        const all = yield* paths
        const { page, url } = yield* visit("/v2/", { bypassCSP: true, reducedMotion: "reduce" })
        yield* steps(async () => {
          for (const [path, ...widths] of [
            ...all.map((one) => [one, 320, 1440] as const),
            ...beside.map((one) => [one, 320] as const),
          ]) {
            await page.goto(`${url}${path}`)
            await unfold(page)
            await assertAppearance(page, [...appearancesOf(...widths), forced], path, nameOf(path))
          }
        })
      }),
    patience(180),
  )

  it.effect(
    "complains of nothing, loads little and does not move, to the last line of every page",
    () =>
      Effect.gen(function* () {
        const all = yield* paths
        const { complaints, page, url } = yield* visit("/api/health")
        yield* steps(async () => {
          await watchShifts(page)
          const network = await page.context().newCDPSession(page)
          await network.send("Network.enable")
          // Each page is a first view.
          await network.send("Network.setCacheDisabled", { cacheDisabled: true })
          const types = new Map<string, string>()
          const bytes = new Map<string, number>()
          network.on("Network.responseReceived", ({ requestId, type }) => types.set(requestId, type))
          network.on("Network.loadingFinished", ({ encodedDataLength, requestId }) =>
            bytes.set(requestId, encodedDataLength),
          )
          const sum = (type: string) =>
            [...bytes].reduce((total, [id, length]) => (types.get(id) === type ? total + length : total), 0)
          for (const path of all) {
            types.clear()
            bytes.clear()
            await page.goto(`${url}${path}`, { waitUntil: "networkidle" })
            for (const image of await page.locator("img[loading=lazy]").all()) {
              if (await image.isVisible()) await image.scrollIntoViewIfNeeded()
            }
            await page.waitForLoadState("networkidle")
            const renewed = await page
              .locator("[data-renew]")
              .evaluateAll((parts) => parts.map((part) => part.getAttribute("data-renew")))
            assert.strictEqual(new Set(renewed).size, renewed.length, `parts of ${path}: ${renewed.join(" ")}`)
            const total = [...bytes.values()].reduce((one, other) => one + other, 0)
            assert.isAbove(sum("Script"), 1000, path)
            const script = path.startsWith("/v2/mine") ? budget.box : budget.script
            assert.isAtMost(sum("Script"), script, `script of ${path}`)
            assert.isAtMost(sum("Stylesheet"), budget.style, `style of ${path}`)
            assert.isAtMost(sum("Document"), budget.page, `document of ${path}`)
            assert.isAtMost(total, budget.all, `all of ${path}`)
            assert.isAtMost(types.size, budget.requests, `requests of ${path}`)
            assert.isAtMost(await shifted(page), 0.01, `${path} shifts`)
          }
        })
        assert.deepStrictEqual(complaints, [])
      }),
    patience(180),
  )

  it.effect("loads what signs only when somebody wants to pay", () =>
    Effect.gen(function* () {
      const { page } = yield* visit("/v2/spirits/silt-salamander")
      yield* steps(async () => {
        const scripts: Array<Promise<Buffer>> = []
        page.on("response", (response) => {
          if (response.url().endsWith(".js")) scripts.push(response.body())
        })
        await page.locator("#prayer").getByRole("button", { name: "Make a play wallet" }).click()
        await page.getByText("Play wallet with").first().waitFor()
        const bytes = (await Promise.all(scripts)).reduce((sum, body) => sum + brotliCompressSync(body).length, 0)
        assert.isAbove(bytes, 10_000)
        assert.isAtMost(bytes, 60_000)
      })
    }),
  )

  it.effect("shows what was left on an altar: its candles, keeper, offerings and stones", () =>
    Effect.gen(function* () {
      yield* paths
      // Today, whatever day it was when the others were left.
      yield* createAct("/api/prayers/ink-cuttlefish", {
        agentName: "W".repeat(64),
        intentionCommitment: newCommitment(),
      })
      const { page, url } = yield* visit("/v2/spirits/quartz-elephant")
      yield* steps(async () => {
        assert.strictEqual(await page.locator("#candles .votive").count(), 12)
        assert.include(await page.locator("#candles").innerText(), "12 candles lit")
        assert.match(await page.locator("#keeper").innerText(), /Kept by\s+W{64}[^]*R{280}/u)
        assert.deepStrictEqual(await page.locator(".offering__name").allInnerTexts(), [
          "Boxer Crab, Undefeated",
          "Pixel Moon Gecko",
          "Sea Glass",
        ])
        const stones = (await page.locator("#stones").innerText()).replace(/\s+/gu, " ")
        assert.match(stones, /W{280}[^]*سوف تعود[^]*revealed, words hidden/u)
        assert.notInclude(stones, "example.com")
        await page.goto(`${url}/v2/spirits/ink-cuttlefish`)
        assert.match(await page.locator("#prayer").innerText(), /was laid by\s+W{64}/u)
        await page.getByText("The exact call for $0.01").first().click()
        assert.include(await page.locator("#prayer-text").innerText(), "/api/prayers/ink-cuttlefish")
      })
    }),
  )

  it.effect("lets candles burn down by the clock while a page stays open, without motion when none is wanted", () =>
    Effect.gen(function* () {
      yield* paths
      const { page, url } = yield* visit("/api/health", { reducedMotion: "reduce" })
      yield* steps(async () => {
        await page.clock.install()
        await page.goto(`${url}/v2/candles?spirit=moss-hare`)
        const height = async () => Number(await page.locator(".wax").first().getAttribute("height"))
        const [before, words] = [await height(), page.locator("[data-left]").first()]
        assert.match(await words.innerText(), /^23 hours and \d+ minutes left$/u)
        await page.clock.runFor("12:00:00")
        assert.match(await words.innerText(), /^1[01] hours and \d+ minutes left$/u)
        assert.isBelow(await height(), before - 20)
        await page.clock.runFor("13:00:00")
        assert.strictEqual(await words.innerText(), "burned down")
        assert.isFalse(await page.locator(".fire").first().isVisible())
        assert.strictEqual(await page.evaluate(() => document.getAnimations().length), 0)
        await page.emulateMedia({ reducedMotion: "no-preference" })
        await page.goto(`${url}/v2/candles`)
        assert.isAbove(await page.evaluate(() => document.getAnimations().length), 0)
      })
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
        // The heading can be there before the rest of the page, and before the style that hides what needs script.
        await page.waitForLoadState("load")
        assert.include(await page.locator("#keeper").innerText(), "Kept by")
        assert.include(await page.locator("#prayer").innerText(), "Paying from this page needs script.")
        assert.isTrue(await page.locator("#prayer-text").isVisible())
        assert.isFalse(await page.getByRole("button", { name: "Lay the prayer for" }).isVisible())
        await page.goto(`${url}/v2/witness`)
        await page.getByLabel("Number, hash, name").fill("1")
        await page.getByRole("button", { name: "Search" }).click()
        await page.getByRole("heading", { name: "Witness stone 1" }).waitFor()
        await page.waitForLoadState("load")
        assert.isFalse(await page.getByRole("button", { name: "Check without sending" }).isVisible())
        await page.goto(`${url}/v2/candles`)
        assert.match(
          await page.locator(".votive", { hasText: "Grandma" }).innerText(),
          /For Grandma, who kept bees[^]*23 hours and \d+ minutes left/u,
        )
        await page.getByLabel("Altar").selectOption("dew-spider")
        await page.getByRole("button", { name: "Show" }).click()
        await page.getByText("The shelf is empty.").waitFor()
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
