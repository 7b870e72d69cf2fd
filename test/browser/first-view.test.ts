/** What every page owes whoever opens it first: few bytes, and nothing that moves. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import type { Page } from "playwright-core"
import { steps, visit } from "../lab/browser/Browser.ts"
import { guide, createActs, createAct } from "../lab/browser/Guide.ts"
import { patience } from "../lab/Patience.ts"
import { ask, TestServer } from "../lab/Fixture.ts"

/** Bytes of the first window of the first page, as they travel, headers and all, with the typeface. */
const mostOfHome = 60_000

const kinds = [
  "/v2/",
  "/v2/spirits/moss-hare",
  "/v2/candles",
  "/v2/witness",
  "/v2/catalog",
  "/v2/mine",
  "/v2/log",
  "/v2/nowhere",
  "/terms",
  "/privacy",
  "/for-agents",
  "/docs",
  "/signals/",
]

interface Listed {
  readonly act: string
  readonly permalink: string
}

/** A page of each kind: those above, and those of the acts that others have left. */
const paths = Effect.gen(function* () {
  const { url } = yield* TestServer
  const read = ask(`${url}/api/acts?limit=50`)
  const before: { acts: ReadonlyArray<Listed> } = JSON.parse((yield* read).text)
  if (before.acts.length === 0) {
    yield* createActs
    const { id } = yield* createAct("/api/candles/week/moss-hare", { dedication: "For Grandma, who kept bees" })
    yield* createAct("/api/candles/day/moss-hare", { parentId: id, agentName: "Ilse Müller" })
  }
  const { acts }: { acts: ReadonlyArray<Listed> } = JSON.parse((yield* read).text)
  return [...kinds, ...new Map(acts.map(({ act, permalink }) => [act, new URL(permalink).pathname])).values()]
})

/** Adds up how far things moved, as long as the page stands. */
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

const shifts = (page: Page): Promise<ReadonlyArray<string>> => page.evaluate(() => Reflect.get(window, "found"))

/** To the last line, so that every drawing that waits for its reader is there. */
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

guide("the first view", (it) => {
  for (const [width, height] of [
    [1440, 900],
    [360, 740],
  ] as const)
    it.effect(`of the guide costs at most 60 KB with its typeface, ${width} pixels wide`, () =>
      Effect.gen(function* () {
        const { page, url } = yield* visit("/api/health", { viewport: { width, height } })
        yield* steps(async () => {
          const network = await page.context().newCDPSession(page)
          await network.send("Network.enable")
          const urls = new Map<string, string>()
          const bytes = new Map<string, number>()
          network.on("Network.responseReceived", ({ requestId, response }) => urls.set(requestId, response.url))
          network.on("Network.loadingFinished", ({ encodedDataLength, requestId }) =>
            bytes.set(urls.get(requestId) ?? requestId, encodedDataLength),
          )
          await page.goto(`${url}/v2/`, { waitUntil: "networkidle" })
          // A browser that has nothing else to do fetches drawings that are a page or two away.
          const later = new Set(
            await page.evaluate(() =>
              [...document.images]
                .filter((image) => image.getBoundingClientRect().top > innerHeight)
                .map(({ src }) => src),
            ),
          )
          const first = [...bytes].filter(([one]) => !later.has(one))
          assert.isTrue(first.some(([one]) => /vollkorn-roman-/u.test(one)))
          assert.isTrue(first.some(([one]) => /vollkorn-italic-/u.test(one)))
          const total = first.reduce((sum, [, length]) => sum + length, 0)
          assert.isAtMost(total, mostOfHome, JSON.stringify(first))
        })
      }),
    )

  it.effect(
    "of no page moves, whether its typeface comes at once or late",
    () =>
      Effect.gen(function* () {
        const all = yield* paths
        for (const [width, late] of [
          [360, false],
          [1440, false],
          [360, true],
        ] as const) {
          const { page, url } = yield* visit("/api/health", { viewport: { width, height: 800 } })
          yield* steps(async () => {
            await watchShifts(page)
            if (late)
              await page.route("**/*.woff2", async (route) => {
                // The words stand there before their face comes.
                await page.waitForFunction(() => performance.getEntriesByName("first-contentful-paint").length > 0)
                await route.continue()
              })
            for (const path of all) {
              await page.goto(`${url}${path}`, { waitUntil: "networkidle" })
              await readThrough(page)
              assert.deepStrictEqual(await shifts(page), [], `${path}, ${width} pixels, ${late ? "late" : "at once"}`)
            }
          })
        }
      }).pipe(Effect.scoped),
    patience(240),
  )

  it.effect("is set in our own typeface, in two weights, with hashes in a monospaced one", () =>
    Effect.gen(function* () {
      yield* paths
      const { page } = yield* visit("/v2/witness")
      yield* steps(async () => {
        const faces = await page.evaluate(async () => {
          await document.fonts.ready
          const family = (selector: string) => {
            const element = document.querySelector(selector)
            return element === null ? "" : (getComputedStyle(element).fontFamily.split(",")[0] ?? "")
          }
          return {
            loaded: [...document.fonts].filter(({ status }) => status === "loaded").map(({ style }) => style),
            text: family("p"),
            button: family(".button"),
            field: family(".field"),
            hash: family(".link__hash"),
            code: family("code"),
          }
        })
        assert.includeMembers(faces.loaded, ["normal", "italic"])
        assert.deepStrictEqual([faces.text, faces.button, faces.field], ["Vollkorn", "Vollkorn", "Vollkorn"])
        assert.deepStrictEqual([faces.hash, faces.code], ["ui-monospace", "ui-monospace"])
      })
    }),
  )
})
